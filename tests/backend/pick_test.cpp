// How a row of logits becomes a token, on every backend of this machine, against an independent computation
// in double and, for draws, by frequency.
#include "backend/backend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

namespace orfebre {
namespace {

constexpr int kVocab = 100;  // not a multiple of 32, so that the last mask word is partly used
constexpr int kMaskWords = 4;

// One pick launch over logits [n, kVocab] and what it leaves behind.
class Pick : public ::testing::TestWithParam<std::string> {
 protected:
  Pick() {
    std::mt19937 random(3);
    std::normal_distribution<float> normal(0.0f, 2.0f);
    for (float& logit : logits_) {
      logit = normal(random);
    }
  }

  static PickRow plain_row() {
    PickRow row{};
    row.forced_token = -1;
    row.n_vocab = kVocab;
    row.top_p = 1.0f;
    row.repetition_penalty = 1.0f;
    row.mask = -1;
    return row;
  }

  std::vector<PickResult> run(const std::vector<PickRow>& rows) {
    std::vector<PickResult> results(rows.size());
    backend_->pick({logits_.data(), rows.data(), bias_ids_.data(), bias_values_.data(), masks_.data(),
                    counts_.data(), picked_.data(), results.data(), static_cast<int32_t>(rows.size()), kVocab,
                    kMaskWords});
    return results;
  }
  PickResult run(const PickRow& row) { return run(std::vector<PickRow>{row})[0]; }

  // ids by descending logit, ties to the lower.
  std::vector<int> ranking() const {
    std::vector<int> ids(kVocab);
    for (int i = 0; i < kVocab; ++i) {
      ids[static_cast<size_t>(i)] = i;
    }
    std::stable_sort(ids.begin(), ids.end(), [&](int x, int y) { return logit(x) > logit(y); });
    return ids;
  }
  float& logit(int id) { return logits_[static_cast<size_t>(id)]; }
  float logit(int id) const { return logits_[static_cast<size_t>(id)]; }
  double logprob(int id) const {
    double sum = 0.0;
    for (int i = 0; i < kVocab; ++i) {
      sum += std::exp(static_cast<double>(logit(i)));
    }
    return logit(id) - std::log(sum);
  }

  // How often each id comes up in `n` draws at consecutive positions.
  std::vector<int> frequencies(PickRow row, int n) {
    std::vector<PickRow> rows(static_cast<size_t>(n), row);
    for (int i = 0; i < n; ++i) {
      rows[static_cast<size_t>(i)].position = i;
    }
    std::vector<int> hits(kVocab, 0);
    for (const PickResult& result : run(rows)) {
      EXPECT_EQ(result.status, kPickOk);
      ++hits[static_cast<size_t>(result.token)];
    }
    return hits;
  }

  // Pearson's chi-square of hits against probabilities over the ids of `kept`, all others having none.
  void expect_distribution(const std::vector<int>& hits, const std::vector<int>& kept, double temperature) {
    double total = 0.0;
    for (const int id : kept) {
      total += std::exp(logit(id) / temperature);
    }
    const int n = std::accumulate(hits.begin(), hits.end(), 0);
    double chi_square = 0.0;
    int inside = 0;
    for (const int id : kept) {
      const double expected = n * std::exp(logit(id) / temperature) / total;
      chi_square +=
          (hits[static_cast<size_t>(id)] - expected) * (hits[static_cast<size_t>(id)] - expected) / expected;
      inside += hits[static_cast<size_t>(id)];
    }
    EXPECT_EQ(inside, n) << "a token outside the kept set was drawn";
    const double freedom = static_cast<double>(kept.size()) - 1.0;
    EXPECT_LT(chi_square, freedom + 5.0 * std::sqrt(2.0 * freedom) + 5.0);
  }

  std::vector<float> logits_ = std::vector<float>(kVocab);
  std::vector<int32_t> bias_ids_ = {0};
  std::vector<float> bias_values_ = {0.0f};
  std::vector<uint32_t> masks_ = std::vector<uint32_t>(kMaskWords, 0);
  std::vector<uint32_t> counts_ = std::vector<uint32_t>(kMaxLanes * kVocab, 0);
  std::vector<int32_t> picked_ = std::vector<int32_t>(kMaxLanes, -7);
  std::unique_ptr<Backend> backend_ = make_backend(GetParam(), ShapeId::kDemo, {});
};

TEST_P(Pick, GreedyTakesTheLargestAndReportsLogprobs) {
  PickRow row = plain_row();
  row.lane = 3;
  const PickResult result = run(row);
  const std::vector<int> order = ranking();
  EXPECT_EQ(result.status, kPickOk);
  EXPECT_EQ(result.token, order[0]);
  EXPECT_NEAR(result.logprob, logprob(order[0]), 1e-5);
  for (int i = 0; i < kTopLogprobs; ++i) {
    EXPECT_EQ(result.top_ids[i], order[static_cast<size_t>(i)]);
    EXPECT_NEAR(result.top_logprobs[i], logprob(order[static_cast<size_t>(i)]), 1e-5);
  }
  EXPECT_EQ(picked_[3], result.token);
  EXPECT_EQ(counts_[static_cast<size_t>(3 * kVocab + result.token)], 1u);
  EXPECT_EQ(std::accumulate(counts_.begin(), counts_.end(), 0u), 1u);
}

TEST_P(Pick, TiesGoToTheLowerId) {
  logit(70) = logit(31) = logit(32) = 50.0f;
  const PickResult result = run(plain_row());
  EXPECT_EQ(result.token, 31);
  EXPECT_EQ(result.top_ids[1], 32);
  EXPECT_EQ(result.top_ids[2], 70);
}

TEST_P(Pick, ReadsItsOwnLogitRowAndLane) {
  logits_.resize(2 * kVocab, 0.0f);
  logits_[kVocab + 42] = 9.0f;
  PickRow row = plain_row();
  row.logit_row = 1;
  row.lane = 5;
  EXPECT_EQ(run(row).token, 42);
  EXPECT_EQ(picked_[5], 42);
  EXPECT_EQ(picked_[0], -7);
}

TEST_P(Pick, BiasPenaltiesAndMaskInThatOrder) {
  const int best = ranking()[0];
  const int second = ranking()[1];
  bias_ids_ = {1, best};
  bias_values_ = {500.0f, -100.0f};
  PickRow row = plain_row();
  row.bias_offset = 1;
  row.n_bias = 1;
  const PickResult biased = run(row);
  EXPECT_EQ(biased.token, second) << "only the row's own biases count";
  EXPECT_NEAR(biased.logprob, logprob(second), 1e-5) << "logprobs are of the raw logits";

  // The repetition penalty comes after the bias.
  std::fill(logits_.begin(), logits_.end(), -50.0f);
  std::fill(counts_.begin(), counts_.end(), 0u);
  logit(8) = 10.0f;
  logit(9) = -9.0f;
  counts_[8] = kCountInPrompt;
  bias_ids_ = {8};
  bias_values_ = {-12.0f};
  row = plain_row();
  row.n_bias = 1;
  row.repetition_penalty = 4.0f;
  EXPECT_EQ(run(row).token, 8) << "(10 - 12) * 4 = -8 beats -9; 10 / 4 - 12 = -9.5 would not";
}

TEST_P(Pick, RepetitionCountsPromptAndReplyTheOthersTheReplyAlone) {
  std::fill(logits_.begin(), logits_.end(), -50.0f);
  logit(1) = 4.0f;
  logit(2) = 3.0f;
  PickRow row = plain_row();
  counts_[1] = kCountInPrompt;
  row.presence_penalty = 3.0f;
  row.frequency_penalty = 3.0f;
  EXPECT_EQ(run(row).token, 1) << "in the prompt only: no presence, no frequency";
  counts_[1] = kCountInPrompt | 1u;
  row.frequency_penalty = 0.0f;
  row.presence_penalty = 0.5f;
  EXPECT_EQ(run(row).token, 1) << "4 - 0.5 still leads";
  counts_[1] = 3u;
  row.frequency_penalty = 0.4f;
  EXPECT_EQ(run(row).token, 2) << "4 - 0.5 - 3 * 0.4 = 2.3 does not";
  counts_[1] = kCountInPrompt;
  counts_[2] = 0u;
  row = plain_row();
  row.repetition_penalty = 1.5f;
  EXPECT_EQ(run(row).token, 2) << "4 / 1.5 < 3";
  logit(1) = -2.0f;
  logit(2) = -2.5f;
  counts_[1] = kCountInPrompt;
  counts_[2] = 0u;
  EXPECT_EQ(run(row).token, 2) << "-2 * 1.5 < -2.5: a penalty never helps a negative logit";
}

TEST_P(Pick, MasksAllowOnlyTheirTokens) {
  masks_.assign(2 * kMaskWords, 0xffffffffu);
  masks_[kMaskWords + 0] = masks_[kMaskWords + 1] = masks_[kMaskWords + 2] = masks_[kMaskWords + 3] = 0u;
  masks_[kMaskWords + 3] = 1u << 2;   // id 98
  masks_[kMaskWords + 1] = 1u << 31;  // id 63
  PickRow row = plain_row();
  row.mask = 1;
  EXPECT_EQ(run(row).token, logit(98) > logit(63) ? 98 : 63);
  logit(63) = logit(98) - 1.0f;
  EXPECT_EQ(run(row).token, 98);
  row.temperature = 1.0f;
  expect_distribution(frequencies(row, 2000), {63, 98}, 1.0);
}

TEST_P(Pick, ForcedTokenIsTakenWhateverElseIsAsked) {
  PickRow row = plain_row();
  row.forced_token = ranking()[50];
  row.mask = 0;  // allows nothing
  row.temperature = 1.0f;
  const PickResult result = run(row);
  EXPECT_EQ(result.status, kPickOk);
  EXPECT_EQ(result.token, row.forced_token);
  EXPECT_NEAR(result.logprob, logprob(row.forced_token), 1e-5);
  EXPECT_EQ(counts_[static_cast<size_t>(result.token)], 1u);
}

TEST_P(Pick, DrawsFollowTheTemperature) {
  std::vector<int> all = ranking();
  PickRow row = plain_row();
  for (const float temperature : {0.5f, 1.0f, 2.5f}) {
    row.temperature = temperature;
    row.seed = 11;
    expect_distribution(frequencies(row, 20000), all, temperature);
  }
}

TEST_P(Pick, TopKTopPMinPInThatOrder) {
  // e^logit: 40, 30, 20, 10 of 100, and 1e-9 for the others.
  std::fill(logits_.begin(), logits_.end(), -20.0f);
  logit(5) = std::log(40.0f);
  logit(17) = std::log(30.0f);
  logit(2) = std::log(20.0f);
  logit(99) = std::log(10.0f);
  PickRow row = plain_row();
  row.temperature = 1.0f;
  const auto drawn = [&] {
    const std::vector<int> hits = frequencies(row, 3000);
    std::set<int> ids;
    for (int id = 0; id < kVocab; ++id) {
      if (hits[static_cast<size_t>(id)] > 0) {
        ids.insert(id);
      }
    }
    return ids;
  };
  row.top_k = 3;
  EXPECT_EQ(drawn(), (std::set<int>{2, 5, 17}));
  row.top_p = 0.75f;  // of what top_k left: 40 / 90, 70 / 90 >= 0.75
  EXPECT_EQ(drawn(), (std::set<int>{5, 17}));
  row.top_k = 0;  // 40, 70, 90 of 100: three are needed
  EXPECT_EQ(drawn(), (std::set<int>{2, 5, 17}));
  row.top_p = 1.0f;
  row.min_p = 0.3f;  // 40 * 0.3 = 12
  EXPECT_EQ(drawn(), (std::set<int>{2, 5, 17}));
  row.min_p = 1.0f;
  EXPECT_EQ(drawn(), (std::set<int>{5}));
  row.min_p = 0.0f;
  row.top_p = 0.0f;
  EXPECT_EQ(drawn(), (std::set<int>{5})) << "at least one is kept";
  row.top_p = 0.75f;
  row.temperature = 0.25f;  // the cut follows the temperature: 40^4 / (40^4 + 30^4 + 20^4 + 10^4) = 0.72
  EXPECT_EQ(drawn(), (std::set<int>{5, 17}));
}

TEST_P(Pick, TheDrawDependsOnSeedAndPositionAlone) {
  PickRow row = plain_row();
  row.temperature = 1.0f;
  row.seed = 77;
  row.position = 1234;
  const int32_t token = run(row).token;
  row.lane = 6;
  std::vector<PickRow> rows(5, row);
  rows[0].position = 1;
  rows[1].seed = 78;
  EXPECT_EQ(run(rows)[4].token, token);
  std::set<int32_t> by_seed;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    row.seed = seed;
    by_seed.insert(run(row).token);
  }
  EXPECT_GT(by_seed.size(), 5u);
}

TEST_P(Pick, TinyTemperaturesAndHugeLogitsStayFinite) {
  logit(44) = 3.0e38f;
  PickRow row = plain_row();
  row.temperature = 1e-30f;
  EXPECT_EQ(run(row).token, 44);
  for (float& value : logits_) {
    value = -3.0e38f;
  }
  logit(45) = -2.9e38f;
  row.temperature = 1.0f;
  EXPECT_EQ(run(row).token, 45);
}

TEST_P(Pick, BrokenLogitsFailTheirRowAlone) {
  logits_.resize(3 * kVocab);
  std::copy_n(logits_.begin(), kVocab, logits_.begin() + kVocab);
  std::copy_n(logits_.begin(), kVocab, logits_.begin() + 2 * kVocab);
  logits_[55] = NAN;
  logits_[kVocab + 3] = INFINITY;
  logits_[2 * kVocab + 3] = -INFINITY;
  std::vector<PickRow> rows(3, plain_row());
  for (int i = 0; i < 3; ++i) {
    rows[static_cast<size_t>(i)].logit_row = i;
    rows[static_cast<size_t>(i)].lane = i;
  }
  const std::vector<PickResult> results = run(rows);
  EXPECT_EQ(results[0].status, kPickNotFinite);
  EXPECT_EQ(results[1].status, kPickNotFinite);
  EXPECT_EQ(results[2].status, kPickOk) << "-infinity is a token that cannot come";
  EXPECT_GE(picked_[0], 0) << "an id that the next step may embed";
  EXPECT_LT(picked_[0], kVocab);
  EXPECT_EQ(std::accumulate(counts_.begin(), counts_.begin() + 2 * kVocab, 0u), 0u);
}

TEST_P(Pick, NothingLeftIsAFailure) {
  PickRow row = plain_row();
  row.mask = 0;
  EXPECT_EQ(run(row).status, kPickNothingLeft);
  row.temperature = 1.0f;
  EXPECT_EQ(run(row).status, kPickNothingLeft);
}

TEST_P(Pick, PaddingRowsOfTheHeadNeverCome) {
  for (int id = 90; id < kVocab; ++id) {
    logit(id) = NAN;
  }
  logit(89) = 30.0f;
  PickRow row = plain_row();
  row.n_vocab = 90;
  const PickResult result = run(row);
  EXPECT_EQ(result.status, kPickOk);
  EXPECT_EQ(result.token, 89);
  for (const int32_t id : result.top_ids) {
    EXPECT_LT(id, 90);
  }
  row.n_vocab = 3;
  EXPECT_EQ(run(row).top_ids[3], -1) << "fewer than 20 tokens: the rest is empty";
}

INSTANTIATE_TEST_SUITE_P(Backends, Pick, ::testing::ValuesIn(available_backends()),
                         [](const auto& backend) { return backend.param; });

}  // namespace
}  // namespace orfebre
