#include "verify/report.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace orfebre {
namespace {

using json = nlohmann::ordered_json;

json to_json(const TensorTotals& totals) {
  json bits = json::object();
  for (const auto& [width, count] : totals.matrices_by_bits) {
    bits[std::to_string(width)] = count;
  }
  return {{"files", totals.n_files},
          {"tensors", totals.n_tensors},
          {"bytes", totals.tensor_bytes},
          {"text_tensors", totals.n_text_tensors},
          {"text_bytes", totals.text_bytes},
          {"text_tensors_of_public_layout", totals.public_text_tensors},
          {"text_bytes_of_public_layout", totals.public_text_bytes},
          {"is_public_layout", totals.is_public_layout()},
          {"matrices_by_bits", bits},
          {"a_log_dtype", totals.a_log_dtype},
          {"norms_stored_as_multipliers", totals.converted}};
}

json to_json(const StepComparison& step) {
  json margin = std::isfinite(step.golden_margin) ? json(step.golden_margin) : json(nullptr);
  return {{"same_top", step.same_top},
          {"golden_margin_nats", margin},
          {"kl_nats", step.kl},
          {"logprob_difference", step.logprob_difference}};
}

json or_null(const std::optional<int>& value) {
  return value ? json(*value) : json(nullptr);
}

json to_json(const GoldenResult& result, bool with_prompts) {
  const GoldenComparison& comparison = result.comparison;
  json steps = json::array();
  for (const StepComparison& step : comparison.steps) {
    steps.push_back(to_json(step));
  }
  json out = {{"name", result.golden.name},
              {"made_from", result.golden.model},
              {"mlx_lm_version", result.golden.version},
              {"dtype", result.golden.dtype},
              {"chat_template", result.golden.chat},
              {"prompt_tokens", result.golden.prompt_ids.size()},
              {"prompt_ids_agree", result.prompt_passed()},
              {"own_prompt_tokens", result.prompt.n_ids},
              {"prompt_first_difference", or_null(result.prompt.first_difference)},
              {"passed", result.steps_passed()},
              {"steps", comparison.steps.size()},
              {"top1_agree", comparison.n_same()},
              {"decided_steps", comparison.n_decided()},
              {"decided_agree", comparison.n_decided_same()},
              {"first_divergence", or_null(comparison.first_divergence())},
              {"mean_kl_nats", comparison.mean_kl()},
              {"max_kl_nats", comparison.max_kl()},
              {"max_logprob_difference", comparison.max_logprob_difference()},
              {"seconds", result.seconds},
              {"each_step", std::move(steps)}};
  if (with_prompts) {
    out["prompt"] = result.golden.prompt;
    if (const std::optional<int> first = comparison.first_divergence()) {
      const auto index = static_cast<size_t>(*first);
      out["first_divergence_ids"] = {{"golden", result.golden.steps[index].chosen},
                                     {"own", comparison.steps[index].likeliest}};
    }
  }
  return out;
}

json to_json(const ConsistencyCheck& check) {
  return {{"name", check.name},
          {"same_tokens", check.same},
          {"same_bits", check.same_bits},
          {"largest_difference", check.largest_difference}};
}

}  // namespace

PromptComparison compare_prompt(const Golden& golden, const std::vector<int32_t>& ids) {
  PromptComparison comparison;
  comparison.n_ids = static_cast<int>(ids.size());
  const auto [own, expected] =
      std::mismatch(ids.begin(), ids.end(), golden.prompt_ids.begin(), golden.prompt_ids.end());
  if (own != ids.end() || expected != golden.prompt_ids.end()) {
    comparison.first_difference = static_cast<int>(own - ids.begin());
  }
  return comparison;
}

bool GoldenResult::steps_passed() const {
  return comparison.n_decided_same() == comparison.n_decided() && comparison.mean_kl() <= kMeanKlLimit;
}

bool VerifyReport::passed() const {
  return std::all_of(
             goldens.begin(), goldens.end(),
             [](const GoldenResult& golden) { return golden.prompt_passed() && golden.steps_passed(); }) &&
         std::all_of(consistency.begin(), consistency.end(),
                     [](const ConsistencyCheck& check) { return check.same; });
}

std::string to_json(const VerifyReport& report, bool with_prompts) {
  json goldens = json::array();
  for (const GoldenResult& result : report.goldens) {
    goldens.push_back(to_json(result, with_prompts));
  }
  json consistency = json::array();
  for (const ConsistencyCheck& check : report.consistency) {
    consistency.push_back(to_json(check));
  }
  const json document = {{"report", "orfebre verify"},
                         {"version", report.program},
                         {"passed", report.passed()},
                         {"model", report.model},
                         {"shape", report.shape},
                         {"backend", report.backend},
                         {"processor", report.processor},
                         {"load_seconds", report.load_seconds},
                         {"checkpoint", to_json(report.totals)},
                         {"goldens", std::move(goldens)},
                         {"consistency", std::move(consistency)}};
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace orfebre
