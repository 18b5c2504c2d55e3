#include "verify/compare_golden.h"

#include "base/error.h"
#include "verify/sequence_run.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orfebre {
namespace {

// Below this, what is left beside the top ids is rounding of the golden's own printed digits.
constexpr double kLeastRest = 1e-7;

double log_sum_exp(std::span<const float> logits) {
  const double top = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(logit) - top);
  }
  return top + std::log(sum);
}

StepComparison compare_step(const GoldenStep& golden, std::span<const float> logits) {
  for (const float logit : logits) {
    if (!std::isfinite(logit)) {
      fail(ErrorKind::kBackend, "verify: the model's logits are not finite numbers");
    }
  }
  StepComparison step;
  step.likeliest = static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  step.same_top = step.likeliest == golden.chosen;
  step.golden_margin = golden.top.size() > 1 ? golden.top[0].second - golden.top[1].second
                                             : std::numeric_limits<double>::infinity();
  step.kl = kl_of_top(golden, logits);
  const double normaliser = log_sum_exp(logits);
  for (const auto& [id, logprob] : golden.top) {
    if (golden.top.front().second - logprob <= kComparedNats) {
      const double own = static_cast<double>(logits[static_cast<size_t>(id)]) - normaliser;
      step.logprob_difference = std::max(step.logprob_difference, std::abs(own - logprob));
    }
  }
  return step;
}

}  // namespace

double kl_of_top(const GoldenStep& step, std::span<const float> logits) {
  const double normaliser = log_sum_exp(logits);
  std::vector<float> others(logits.begin(), logits.end());
  double kl = 0;
  double rest = 1;
  for (const auto& [id, logprob] : step.top) {
    const double own = static_cast<double>(logits[static_cast<size_t>(id)]) - normaliser;
    kl += std::exp(logprob) * (logprob - own);
    rest -= std::exp(logprob);
    others[static_cast<size_t>(id)] = -std::numeric_limits<float>::infinity();
  }
  if (rest > kLeastRest && step.top.size() < logits.size()) {
    kl += rest * (std::log(rest) - (log_sum_exp(others) - normaliser));
  }
  return std::max(0.0, kl);
}

int GoldenComparison::n_same() const {
  return static_cast<int>(
      std::count_if(steps.begin(), steps.end(), [](const StepComparison& step) { return step.same_top; }));
}

int GoldenComparison::n_decided() const {
  return static_cast<int>(std::count_if(steps.begin(), steps.end(), [](const StepComparison& step) {
    return step.golden_margin > kDecidedNats;
  }));
}

int GoldenComparison::n_decided_same() const {
  return static_cast<int>(std::count_if(steps.begin(), steps.end(), [](const StepComparison& step) {
    return step.golden_margin > kDecidedNats && step.same_top;
  }));
}

std::optional<int> GoldenComparison::first_divergence() const {
  const auto found =
      std::find_if(steps.begin(), steps.end(), [](const StepComparison& step) { return !step.same_top; });
  return found == steps.end() ? std::nullopt : std::optional<int>(static_cast<int>(found - steps.begin()));
}

double GoldenComparison::mean_kl() const {
  double sum = 0;
  for (const StepComparison& step : steps) {
    sum += step.kl;
  }
  return steps.empty() ? 0 : sum / static_cast<double>(steps.size());
}

double GoldenComparison::max_kl() const {
  double largest = 0;
  for (const StepComparison& step : steps) {
    largest = std::max(largest, step.kl);
  }
  return largest;
}

double GoldenComparison::max_logprob_difference() const {
  double largest = 0;
  for (const StepComparison& step : steps) {
    largest = std::max(largest, step.logprob_difference);
  }
  return largest;
}

GoldenComparison compare_golden(Model& model, const Golden& golden, const std::atomic<bool>* cancel) {
  SequenceRun run(model, golden.total_tokens(), cancel);
  GoldenComparison comparison;
  std::vector<float> logits = run.prefill(golden.prompt_ids, model.limits().max_prefill_rows);
  for (size_t i = 0; i < golden.steps.size(); ++i) {
    comparison.steps.push_back(compare_step(golden.steps[i], logits));
    if (i + 1 < golden.steps.size()) {
      logits = run.decode(golden.steps[i].chosen);
    }
  }
  return comparison;
}

}  // namespace orfebre
