// The CPU backend's pick against the reference's, on many random rows, and the rows that must fail.
#include "backend/cpu/cpu_backend.h"
#include "backend/op_inputs.h"
#include "backend/reference/reference_backend.h"

#include <gtest/gtest.h>

#include <cmath>

namespace orfebre::test {
namespace {

constexpr int kVocab = Demo::kVocab;
constexpr int kMaskWords = (kVocab + 31) / 32;

PickRow plain_row() {
  PickRow row{};
  row.forced_token = -1;
  row.n_vocab = kVocab - 19;  // the last rows of the head are padding
  row.top_p = 1.0f;
  row.repetition_penalty = 1.0f;
  row.mask = -1;
  return row;
}

// One pick of one row with its own history.
struct PickCase {
  std::vector<float> logits = std::vector<float>(kVocab);
  PickRow row = plain_row();
  std::vector<int32_t> bias_ids;
  std::vector<float> bias_values;
  std::vector<uint32_t> mask = std::vector<uint32_t>(kMaskWords, 0xffffffffu);
  std::vector<uint32_t> counts = std::vector<uint32_t>(size_t{kMaxLanes} * kVocab, 0);
  std::vector<int32_t> picked = std::vector<int32_t>(kMaxLanes, -7);

  PickResult run(Backend& backend) {
    row.n_bias = static_cast<int32_t>(bias_ids.size());
    PickResult result{};
    backend.pick({logits.data(), &row, bias_ids.data(), bias_values.data(), mask.data(), counts.data(),
                  picked.data(), &result, 1, kVocab, kMaskWords});
    return result;
  }
};

class CpuPick : public ::testing::Test {
 protected:
  std::unique_ptr<Backend> reference_ = make_reference_backend(ShapeId::kDemo, {});
  std::unique_ptr<Backend> cpu_ = make_cpu_backend(ShapeId::kDemo, {});

  PickResult expect_same(PickCase one, const std::string& what) {
    PickCase twin = one;
    const PickResult expected = one.run(*reference_);
    const PickResult actual = twin.run(*cpu_);
    EXPECT_EQ(actual.status, expected.status) << what;
    EXPECT_EQ(actual.token, expected.token) << what;
    EXPECT_EQ(twin.picked, one.picked) << what;
    EXPECT_EQ(twin.counts, one.counts) << what;
    if (expected.status == kPickOk) {
      EXPECT_NEAR(actual.logprob, expected.logprob, 1e-5) << what;
      for (int i = 0; i < kTopLogprobs; ++i) {
        EXPECT_EQ(actual.top_ids[i], expected.top_ids[i]) << what << ", place " << i;
        if (expected.top_ids[i] >= 0) {
          EXPECT_NEAR(actual.top_logprobs[i], expected.top_logprobs[i], 1e-5) << what;
        }
      }
    }
    return actual;
  }
};

PickCase random_case(Random& random) {
  PickCase one;
  const float spread = random.below(3) == 0 ? 0.5f : 4.0f;
  one.logits = random.floats(kVocab, spread);
  one.logits[kVocab - 1] = 1000.0f;  // a padding row: never chosen
  PickRow& row = one.row;
  row.seed = random.word();
  row.position = random.below(100000);
  row.lane = random.below(kMaxLanes);
  row.temperature = random.below(4) == 0 ? 0.0f : 0.25f + 0.25f * static_cast<float>(random.below(6));
  row.top_k = random.below(2) == 0 ? 0 : 1 + random.below(200);
  row.top_p = random.below(2) == 0 ? 1.0f : 0.05f + 0.09f * static_cast<float>(random.below(10));
  row.min_p = random.below(2) == 0 ? 0.0f : 0.02f * static_cast<float>(random.below(20));
  if (random.below(2) == 0) {
    row.repetition_penalty = 1.3f;
    row.presence_penalty = 1.5f;
    row.frequency_penalty = 0.25f;
  }
  uint32_t* const counts = one.counts.data() + row.lane * kVocab;
  for (int i = 0; i < 300; ++i) {
    const int id = random.below(kVocab);
    random.below(2) == 0 ? counts[id] |= kCountInPrompt : ++counts[id];
  }
  for (int i = random.below(2) * 20; i > 0; --i) {
    one.bias_ids.push_back(random.below(kVocab));
    one.bias_values.push_back(5.0f * random.normal());
  }
  if (random.below(2) == 0) {
    row.mask = 0;
    for (uint32_t& word : one.mask) {
      word = random.word() & random.word();
    }
  }
  if (random.below(8) == 0) {
    row.forced_token = random.below(row.n_vocab);
  }
  return one;
}

TEST_F(CpuPick, RandomRowsChooseAsTheReferenceDoes) {
  Random random(31);
  for (int i = 0; i < 400; ++i) {
    expect_same(random_case(random), "row " + std::to_string(i));
  }
}

TEST_F(CpuPick, TiesGoToTheLowerId) {
  PickCase one;
  for (const int id : {4000, 17, 300}) {
    one.logits[static_cast<size_t>(id)] = 3.0f;
  }
  EXPECT_EQ(expect_same(one, "greedy").token, 17);
  one.row.temperature = 1.0f;
  one.row.top_k = 1;
  EXPECT_EQ(expect_same(one, "top 1").token, 17);
}

TEST_F(CpuPick, SamplingTheWholeVocabularyReachesItsTail) {
  PickCase one;  // every logit equal: a draw falls anywhere
  one.row.temperature = 1.0f;
  int far = 0;
  for (int position = 0; position < 40; ++position) {
    one.row.position = position;
    far += expect_same(one, "position " + std::to_string(position)).token > 2000 ? 1 : 0;
  }
  EXPECT_GT(far, 5);
}

TEST_F(CpuPick, NotFiniteLogitsFailTheRow) {
  for (const float bad : {std::nanf(""), INFINITY}) {
    for (const int at : {0, 15, 16, 2000, kVocab - 20}) {
      PickCase one;
      one.logits[static_cast<size_t>(at)] = bad;
      EXPECT_EQ(expect_same(one, "logit " + std::to_string(at)).status, kPickNotFinite);
    }
  }
  PickCase one;
  one.logits[kVocab - 1] = std::nanf("");  // padding
  EXPECT_EQ(expect_same(one, "padding").status, kPickOk);
}

TEST_F(CpuPick, NothingLeftFailsTheRow) {
  PickCase one;
  one.row.mask = 0;
  one.mask.assign(kMaskWords, 0);
  EXPECT_EQ(expect_same(one, "greedy").status, kPickNothingLeft);
  one.row.temperature = 1.0f;
  EXPECT_EQ(expect_same(one, "sampled").status, kPickNothingLeft);
  one.mask[40] = 8;  // one token left
  EXPECT_EQ(expect_same(one, "one left").token, 40 * 32 + 3);
  one.logits.assign(kVocab, -INFINITY);
  one.logits[5] = 1.0f;
  EXPECT_EQ(expect_same(one, "that one is impossible").status, kPickNothingLeft);
}

}  // namespace
}  // namespace orfebre::test
