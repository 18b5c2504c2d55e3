// A golden teacher-forced: its prompt and chosen ids are fed to the model, and the model's distribution at
// every step is held against the golden's.
#pragma once

#include "model/model.h"
#include "verify/golden.h"

#include <atomic>
#include <optional>
#include <span>
#include <vector>

namespace orfebre {

struct StepComparison {
  int32_t likeliest = 0;     // the model's argmax
  bool same_top = false;     // it is the golden's
  double golden_margin = 0;  // log-probability of the golden's first less its second; infinity with one entry
  double kl = 0;             // in nats, of the model's distribution from the golden's: see kl_of_top
  double logprob_difference = 0;  // largest over the golden's top ids within kComparedNats of its first
};

struct GoldenComparison {
  std::vector<StepComparison> steps;

  int n_same() const;
  // Steps where the golden's margin is over kDecidedNats, and those of them that agree.
  int n_decided() const;
  int n_decided_same() const;
  std::optional<int> first_divergence() const;  // the step
  double mean_kl() const;
  double max_kl() const;
  double max_logprob_difference() const;
};

// Where the golden's first two ids are closer than this, the rounding of bf16 activations decides between
// them.
inline constexpr double kDecidedNats = 0.5;
// Logits far below the first one move by several units of their own rounding and matter to nobody.
inline constexpr double kComparedNats = 10.0;

// Kullback-Leibler divergence, in nats, over the golden's top ids and one bin for all other ids, so that it
// is never negative. `logits` [vocab].
double kl_of_top(const GoldenStep& step, std::span<const float> logits);

// Throws Error(kBackend) when a logit is not finite, Error(kInternal) when `cancel` is set.
GoldenComparison compare_golden(Model& model, const Golden& golden, const std::atomic<bool>* cancel);

}  // namespace orfebre
