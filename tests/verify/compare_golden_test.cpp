// The divergence over top ids and one bin for the rest, against sums written out over a whole small
// vocabulary.
#include "verify/compare_golden.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace orfebre::test {
namespace {

std::vector<double> softmax(std::span<const float> logits) {
  double sum = 0;
  std::vector<double> p;
  for (const float logit : logits) {
    p.push_back(std::exp(static_cast<double>(logit)));
    sum += p.back();
  }
  for (double& value : p) {
    value /= sum;
  }
  return p;
}

GoldenStep step_of(std::span<const double> p, size_t n_top) {
  GoldenStep step;
  for (size_t id = 0; id < p.size(); ++id) {
    step.top.emplace_back(static_cast<int32_t>(id), std::log(p[id]));
  }
  std::sort(step.top.begin(), step.top.end(),
            [](auto& left, auto& right) { return left.second > right.second; });
  step.top.resize(n_top);
  step.chosen = step.top.front().first;
  return step;
}

std::vector<float> random_logits(std::mt19937& random, float deviation) {
  std::normal_distribution<float> normal(0.0f, deviation);
  std::vector<float> logits(50);
  for (float& logit : logits) {
    logit = normal(random);
  }
  return logits;
}

TEST(KlOfTop, IsTheSumOverTopIdsAndTheRest) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    const std::vector<float> theirs = random_logits(random, 2.0f);
    const std::vector<float> ours = random_logits(random, 2.0f);
    const std::vector<double> p = softmax(theirs);
    const std::vector<double> q = softmax(ours);
    const GoldenStep step = step_of(p, 16);
    double expected = 0;
    double p_rest = 0;
    double q_rest = 0;
    for (size_t id = 0; id < p.size(); ++id) {
      const auto is_id = [&](const auto& entry) { return entry.first == static_cast<int32_t>(id); };
      if (std::any_of(step.top.begin(), step.top.end(), is_id)) {
        expected += p[id] * std::log(p[id] / q[id]);
      } else {
        p_rest += p[id];
        q_rest += q[id];
      }
    }
    expected += p_rest * std::log(p_rest / q_rest);
    EXPECT_NEAR(kl_of_top(step, ours), expected, 1e-9 + 1e-6 * expected);
    EXPECT_GT(expected, 0);
  }
}

TEST(KlOfTop, IsZeroForTheSameDistributionHoweverTheLogitsAreShifted) {
  std::mt19937 random(8);
  std::vector<float> logits = random_logits(random, 3.0f);
  const GoldenStep step = step_of(softmax(logits), 16);
  for (float& logit : logits) {
    logit += 40.0f;
  }
  EXPECT_LT(kl_of_top(step, logits), 1e-6);
}

TEST(GoldenComparison, CountsDecidedStepsApart) {
  GoldenComparison comparison;
  comparison.steps = {{1, true, 3.0, 0.25, 0.1},   // agrees
                      {2, false, 0.2, 0.5, 0.4},   // differs where the golden was undecided
                      {3, false, 2.0, 0.75, 0.2},  // differs where it was not
                      {4, true, 0.1, 0.0, 0.0}};
  EXPECT_EQ(comparison.n_same(), 2);
  EXPECT_EQ(comparison.n_decided(), 2);
  EXPECT_EQ(comparison.n_decided_same(), 1);
  EXPECT_EQ(comparison.first_divergence(), 1);
  EXPECT_DOUBLE_EQ(comparison.mean_kl(), 0.375);
  EXPECT_DOUBLE_EQ(comparison.max_kl(), 0.75);
  EXPECT_DOUBLE_EQ(comparison.max_logprob_difference(), 0.4);
}

}  // namespace
}  // namespace orfebre::test
