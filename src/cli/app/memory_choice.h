// How much memory a model gets, decided before anything is loaded: the context, the KV blocks and state slots
// that follow from it, how many experts stay in memory, and the refusal when it does not fit.
#pragma once

#include "cli/options.h"
#include "model/model.h"

#include <cstdint>
#include <string>

namespace orfebre::cli {

// Rows of a prefill step: enough for every expert of the real model to see several.
inline constexpr int kPrefillRows = 512;
// The context where experts are streamed and none is asked for: memory is better spent on experts.
inline constexpr int kStreamedContext = 8192;

struct MemoryChoice {
  StepLimits limits;
  MemoryPlan plan;
  uint64_t program_bytes = 0;  // tokenizer, connections, buffers of the loader
  uint64_t usable_bytes = 0;   // what the plan had to fit into
  int n_snapshots = 0;         // state slots that are the prefix cache's
  int largest_context = 0;     // tokens of one conversation that would fit
  uint64_t total_bytes() const { return plan.total_bytes() + program_bytes; }
  bool fits() const { return total_bytes() <= usable_bytes; }
};

// What the plan is made from.
struct MemoryNeeds {
  const Backend& backend;
  const WeightSource& source;
  int max_context;  // tokens: the checkpoint's limit
  uint64_t program_bytes;
  uint64_t usable_bytes;  // of this machine now, or as --memory says
};

// What `serve --context` would take, whether it fits or not: KV blocks for one whole context, and for the
// other replies at once as far as half of the memory left over allows; what is then left goes to streamed
// experts.
MemoryChoice plan_for_context(const MemoryNeeds& needs, ModelOptions options, int context);

// The largest context, in whole blocks, that fits for one conversation; 0 when not even one block's does.
int largest_context(const MemoryNeeds& needs, const ModelOptions& options);

// The context that --context asks for, or the largest that fits. Throws Error: kInvalidRequest when more is
// asked than the model was made for, kOutOfMemory, naming the largest that fits and what to do, when memory
// is short.
MemoryChoice choose_memory(const MemoryNeeds& needs, const ModelOptions& options);

// The same for given limits. Throws Error(kOutOfMemory) when they do not fit.
MemoryChoice choose_memory(const MemoryNeeds& needs, const ModelOptions& options, const StepLimits& limits);

// "weights 1.2 GB + KV cache ... = 2.0 GB of 20.0 GB usable".
std::string describe(const MemoryChoice& choice);

}  // namespace orfebre::cli
