// What `orfebre verify` found: one structure, its verdict, and the JSON that an owner of real weights can
// send in. Without prompts unless asked: then it holds file names, counts and differences, but no text and no
// ids.
#pragma once

#include "verify/compare_golden.h"
#include "verify/consistency.h"
#include "verify/tensor_totals.h"

#include <optional>
#include <string>
#include <vector>

namespace orfebre {

// The tokenizer and the chat template against a golden's prompt ids.
struct PromptComparison {
  int n_ids = 0;                        // ours
  std::optional<int> first_difference;  // an index into both; absent when they are the same
};

PromptComparison compare_prompt(const Golden& golden, const std::vector<int32_t>& ids);

struct GoldenResult {
  Golden golden;
  PromptComparison prompt;
  GoldenComparison comparison;
  double seconds = 0;

  bool prompt_passed() const { return !prompt.first_difference; }
  // Every decided step agrees and the divergence is small on average.
  bool steps_passed() const;
};

// mlx-lm computes in bf16, whose rounding alone costs about a thousandth of a nat a step; a wrong weight,
// norm or position costs tenths.
inline constexpr double kMeanKlLimit = 0.05;

struct VerifyReport {
  std::string program;  // version
  std::string model;    // the directory's name
  std::string shape;
  std::string backend;
  std::string processor;
  double load_seconds = 0;
  TensorTotals totals;
  std::vector<GoldenResult> goldens;
  std::vector<ConsistencyCheck> consistency;

  bool passed() const;
};

// Ends with a newline. `with_prompts` adds each golden's prompt and the ids at its first divergence.
std::string to_json(const VerifyReport& report, bool with_prompts);

}  // namespace orfebre
