// The forward pass on the reference backend against transformers in float32: tests/data/model, every tensor
// random.
#include "backend/reference/reference_backend.h"
#include "support/closeness.h"
#include "support/fixture.h"
#include "support/sequence.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace orfebre::test {
namespace {

constexpr double kTolerance = 1e-4;

class Fixtures : public ::testing::TestWithParam<ShapeId> {
 protected:
  static std::string path() {
    return std::string(ORFEBRE_TEST_DATA_DIR "/model/") + (GetParam() == ShapeId::kProbe ? "probe" : "demo") +
           ".fixture";
  }
  Fixture fixture_{path()};
  std::unique_ptr<Model> model_ = make_random_model(make_reference_backend(GetParam(), {}));
};

int32_t argmax(std::span<const float> logits) {
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

TEST_P(Fixtures, PromptsOfEveryLength) {
  for (const int length : {1, 2, 3, 63, 64, 65, 200}) {
    const std::string name = std::to_string(length);
    Sequence sequence(*model_, length % 4);
    const std::vector<float> logits =
        sequence.feed(fixture_.ints(name + ".tokens"), fixture_.ints(name + ".rows"));
    const double difference = relative_difference(logits, fixture_.floats(name + ".logits"));
    EXPECT_LT(difference, kTolerance) << length << " tokens";
    RecordProperty("difference_" + name, std::to_string(difference));
  }
}

TEST_P(Fixtures, GreedyContinuation) {
  Sequence sequence(*model_);
  const std::vector<int32_t> last = {64};
  const std::vector<int32_t> first = {0};
  std::vector<float> logits = sequence.feed(fixture_.ints("65.tokens"), last);
  std::vector<int32_t> ids = {argmax(logits)};
  std::vector<float> all;
  for (int i = 0; i < 10; ++i) {
    logits = sequence.feed(std::span(&ids.back(), 1), first, StepKind::kDecode);
    all.insert(all.end(), logits.begin(), logits.end());
    ids.push_back(argmax(logits));
  }
  const std::span<const int32_t> expected = fixture_.ints("greedy.ids");
  EXPECT_EQ(ids, std::vector<int32_t>(expected.begin(), expected.end()));
  EXPECT_LT(relative_difference(all, fixture_.floats("greedy.logits")), kTolerance);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Fixtures, ::testing::Values(ShapeId::kProbe, ShapeId::kDemo),
                         [](const auto& shape) { return shape.param == ShapeId::kProbe ? "Probe" : "Demo"; });

}  // namespace
}  // namespace orfebre::test
