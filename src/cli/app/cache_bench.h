// What the prefix cache saves and costs, on a loaded model: random token ids through the scheduler, no text.
#pragma once

#include "model/model.h"

#include <string>
#include <vector>

namespace orfebre::cli {

// One prompt, up to its first token.
struct CacheBenchRow {
  std::string what;
  int prompt_tokens = 0;
  int new_tokens = 0;   // of the prompt, not in common with what was read before
  int read_tokens = 0;  // of the prompt, processed
  double seconds = 0;   // to the first token
};

struct CacheBenchReport {
  std::vector<CacheBenchRow> rows;
  double prefill_cost = 0;  // share by which keeping states makes a prefill longer: medians, 0.01 is 1 %
  double decode_cost = 0;   // the same of a reply
};

// The limits that a model needs for `prompt_tokens`.
StepLimits cache_bench_limits(int prompt_tokens, int max_context);

// Throws Error, also when a stop signal came.
CacheBenchReport run_cache_bench(Model& model, int prompt_tokens, int repeat);

}  // namespace orfebre::cli
