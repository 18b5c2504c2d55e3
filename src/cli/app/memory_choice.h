// How much memory a model gets, decided before anything is loaded: the context, the KV blocks and state slots
// that follow from it, and the refusal when it does not fit.
#pragma once

#include "cli/options.h"
#include "model/model.h"

#include <cstdint>
#include <string>

namespace orfebre::cli {

// Rows of a prefill step: enough for every expert of the real model to see several.
inline constexpr int kPrefillRows = 512;

struct MemoryChoice {
  StepLimits limits;
  MemoryPlan plan;
  uint64_t program_bytes = 0;  // tokenizer, connections, buffers of the loader
  uint64_t usable_bytes = 0;   // what the plan had to fit into
  int largest_context = 0;     // tokens of one conversation that would fit; 0: not even the weights do
  uint64_t total_bytes() const { return plan.total_bytes() + program_bytes; }
};

// What the plan is made from.
struct MemoryNeeds {
  const Backend& backend;
  const WeightSource& source;
  int max_context;  // tokens: the checkpoint's limit
  uint64_t program_bytes;
};

// Limits and plan for `context` tokens, whether they fit or not; for tables.
MemoryChoice plan_for_context(const MemoryNeeds& needs, const ModelOptions& options, int context);

// The context that --context asks for, or the largest that fits. Throws Error: kInvalidRequest when more is
// asked than the model was made for, kOutOfMemory, naming the largest that fits, when memory is short.
MemoryChoice choose_memory(const MemoryNeeds& needs, const ModelOptions& options);

// Throws Error(kOutOfMemory) when a model of these limits does not fit.
void require_memory(const MemoryNeeds& needs, const ModelOptions& options, const StepLimits& limits);

// "weights 1.2 GB + KV cache ... = 2.0 GB of 20.0 GB usable".
std::string describe(const MemoryChoice& choice);

}  // namespace orfebre::cli
