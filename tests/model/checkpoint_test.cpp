// From files to logits: checkpoints on disk, through the real loader, on the reference backend.
#include "checkpoint/checkpoint.h"
#include "backend/reference/reference_backend.h"
#include "support/closeness.h"
#include "support/fixture.h"
#include "support/random_checkpoint.h"
#include "support/random_weights.h"
#include "support/sequence.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

namespace orfebre::test {
namespace {

constexpr double kTolerance = 1e-4;

class CheckpointOnDisk : public ::testing::Test {
 protected:
  CheckpointOnDisk() {
    std::string pattern = (std::filesystem::temp_directory_path() / "orfebre-model-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw std::runtime_error("cannot make a temporary directory");
    }
    directory_ = pattern;
  }
  ~CheckpointOnDisk() override { std::filesystem::remove_all(directory_); }

  std::vector<float> logits_of(WeightSource& source, std::span<const int32_t> tokens,
                               std::span<const int32_t> rows) const {
    Model model(make_reference_backend(source.shape().id, {}), source, small_limits(), LoadOptions{});
    return Sequence(model).feed(tokens, rows);
  }

  std::string directory_;
};

TEST_F(CheckpointOnDisk, MlxDirectoryGivesTheSeededWeightsAndTheFixturesLogits) {
  write_mlx_checkpoint(directory_, ShapeId::kDemo);
  Checkpoint checkpoint(directory_);
  RandomWeights seeded(ShapeId::kDemo);
  for (const VectorSpec& spec : vector_specs(seeded.shape())) {
    EXPECT_EQ(checkpoint.read_vector(spec), seeded.read_vector(spec)) << weight_name(spec.role, spec.layer);
  }
  EXPECT_EQ(checkpoint.total_bytes(), seeded.total_bytes());
  const Fixture fixture(ORFEBRE_TEST_DATA_DIR "/model/demo.fixture");
  const std::vector<float> logits = logits_of(checkpoint, fixture.ints("3.tokens"), fixture.ints("3.rows"));
  EXPECT_LT(relative_difference(logits, fixture.floats("3.logits")), kTolerance);
}

TEST_F(CheckpointOnDisk, HuggingFaceDirectoryDenseAndQuantised) {
  write_hf_checkpoint(directory_, ShapeId::kDemo);
  const Fixture fixture(ORFEBRE_TEST_DATA_DIR "/model/demo_hf.fixture");
  const std::vector<int32_t> rows = {0, 1, 2};
  Checkpoint dense(directory_);
  EXPECT_LT(relative_difference(logits_of(dense, fixture.ints("tokens"), rows),
                                fixture.floats("unquantised.logits")),
            kTolerance);
  Checkpoint quantised(directory_, {.quantize_dense = true});
  EXPECT_LT(relative_difference(logits_of(quantised, fixture.ints("tokens"), rows), fixture.floats("logits")),
            kTolerance);
}

}  // namespace
}  // namespace orfebre::test
