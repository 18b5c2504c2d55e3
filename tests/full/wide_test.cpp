// The real width against transformers and mlx-lm in float32: 64 positions of a random prompt, every backend
// that this machine runs. Slice has 2.5 GB of weights and Qwen36 19.5 GB, made here from their seed, so these
// tests belong to `make test-full` and not to `make test`.
#include "backend/backend.h"
#include "support/closeness.h"
#include "support/fixture.h"
#include "support/random_weights.h"
#include "support/sequence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

namespace orfebre::test {
namespace {

// Logits at chosen ids, position by position, and the likeliest id of each.
struct Answer {
  std::vector<float> top;     // at the fixture's top ids
  std::vector<float> sample;  // at its sample ids
  std::vector<int32_t> likeliest;
};

Answer answer_of(Model& model, const Fixture& fixture) {
  const std::span<const int32_t> tokens = fixture.ints("tokens");
  const std::span<const int32_t> top_ids = fixture.ints("top_ids");
  const std::span<const int32_t> sample_ids = fixture.ints("sample_ids");
  const size_t n_top = top_ids.size() / tokens.size();
  const auto vocab = static_cast<size_t>(model.shape().vocab);
  const std::vector<int32_t> all_rows = {0, 1, 2, 3, 4, 5, 6, 7};
  Sequence sequence(model);
  Answer answer;
  for (size_t first = 0; first < tokens.size(); first += all_rows.size()) {
    const std::vector<float> logits = sequence.feed(tokens.subspan(first, all_rows.size()), all_rows);
    for (size_t row = 0; row < all_rows.size(); ++row) {
      const std::span<const float> own(logits.data() + row * vocab, vocab);
      for (const int32_t id : top_ids.subspan((first + row) * n_top, n_top)) {
        answer.top.push_back(own[static_cast<size_t>(id)]);
      }
      for (const int32_t id : sample_ids) {
        answer.sample.push_back(own[static_cast<size_t>(id)]);
      }
      answer.likeliest.push_back(
          static_cast<int32_t>(std::max_element(own.begin(), own.end()) - own.begin()));
    }
  }
  return answer;
}

// max|difference| / max|logit| over the first `n_positions` of 64.
double difference_of_first(size_t n_positions, std::span<const float> values, std::span<const float> truth) {
  const size_t n = truth.size() / 64 * n_positions;
  return relative_difference(values.first(n), truth.first(n));
}

class RealWidth : public ::testing::TestWithParam<const char*> {
 protected:
  // For a backend of 15-bit activations: the tolerance of max|difference| / max|logit|, and how many
  // positions are compared. Through 40 layers its rounding changes the place of an expert sooner or later,
  // which moves the logits of that position by a tenth, and those behind it as well.
  void expect_agreement(ShapeId shape, const char* name, double cpu_tolerance, size_t n_cpu_positions) {
    const Fixture fixture(std::string(ORFEBRE_TEST_DATA_DIR "/model/") + name + ".fixture");
    const std::string backend = GetParam();
    const bool is_exact = backend == "reference";
    const double tolerance = is_exact ? 1e-4 : cpu_tolerance;
    RandomWeights weights(shape);
    Model model(make_backend(backend, shape, {}), weights, small_limits(), LoadOptions{});
    const Answer answer = answer_of(model, fixture);

    const std::span<const float> top_logits = fixture.floats("top_logits");
    const size_t n_all = answer.likeliest.size();
    const size_t n_compared = is_exact ? n_all : n_cpu_positions;
    const double top = difference_of_first(n_compared, answer.top, top_logits);
    const double sample = difference_of_first(n_compared, answer.sample, fixture.floats("sample_logits"));
    const size_t n_top = top_logits.size() / n_all;
    const double error = std::max(top, sample) * *std::max_element(top_logits.begin(), top_logits.end());
    size_t n_decided = 0;
    size_t n_same = 0;
    for (size_t i = 0; i < n_all; ++i) {
      const bool is_same = answer.likeliest[i] == fixture.ints("top_ids")[i * n_top];
      n_same += is_same ? 1 : 0;
      if (i < n_compared && top_logits[i * n_top] - top_logits[i * n_top + 1] > 4 * error) {
        ++n_decided;
        EXPECT_TRUE(is_same) << "position " << i;
      }
    }
    std::printf(
        "%s on %s, %zu positions: top ids differ by %.1e, sampled ids by %.1e, %zu are decided; of all %zu "
        "positions %zu have the same likeliest id\n",
        name, backend.c_str(), n_compared, top, sample, n_decided, n_all, n_same);
    EXPECT_LT(top, tolerance);
    EXPECT_LT(sample, tolerance);
    EXPECT_GT(n_decided, is_exact ? n_compared / 4 : 0);
    EXPECT_GT(n_same, n_all / 2);
    if (shape == ShapeId::kSlice) {
      expect_agreement_with_mlx(answer, fixture, tolerance);
    }
  }

  // mlx-lm's logits at the same ids and positions.
  static void expect_agreement_with_mlx(const Answer& answer, const Fixture& fixture, double tolerance) {
    const Fixture mlx(ORFEBRE_TEST_DATA_DIR "/model/slice_mlx.fixture");
    for (const char* name : {"tokens", "top_ids", "sample_ids"}) {
      ASSERT_TRUE(std::ranges::equal(mlx.ints(name), fixture.ints(name)))
          << name << " differ; tools/fixtures/make_mlx_fixture.py slice makes slice_mlx.fixture anew";
    }
    const double top = relative_difference(answer.top, mlx.floats("top_logits"));
    const double sample = relative_difference(answer.sample, mlx.floats("sample_logits"));
    std::printf("against mlx-lm: top ids differ by %.1e, sampled ids by %.1e\n", top, sample);
    EXPECT_LT(top, tolerance);
    EXPECT_LT(sample, tolerance);
  }
};

TEST_P(RealWidth, Slice) {
  expect_agreement(ShapeId::kSlice, "slice", 2e-3, 64);
}

TEST_P(RealWidth, Qwen36) {
  expect_agreement(ShapeId::kQwen36, "qwen36", 4e-2, 10);
}

INSTANTIATE_TEST_SUITE_P(Backends, RealWidth, ::testing::Values("cpu", "reference"),
                         [](const auto& backend) { return std::string(backend.param); });

}  // namespace
}  // namespace orfebre::test
