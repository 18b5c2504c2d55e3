#include "cli/app/memory_choice.h"

#include "base/error.h"
#include "cli/app/cache_share.h"
#include "cli/system/system_memory.h"
#include "engine/kv_pool.h"
#include "engine/state_slots.h"

#include <fmt/core.h>

#include <algorithm>

namespace orfebre::cli {
namespace {

constexpr int kSmallestContext = 1024;  // less is of no use

uint64_t usable_bytes(const ModelOptions& options) {
  return options.memory_gib > 0 ? static_cast<uint64_t>(options.memory_gib * 1073741824.0)
                                : usable_memory_bytes();
}

MemoryChoice plan_blocks(const MemoryNeeds& needs, const ModelOptions& options, int context,
                         int n_kv_blocks) {
  MemoryChoice choice;
  choice.limits.max_context = context;
  choice.limits.max_prefill_rows = std::min(kPrefillRows, blocks_for(context) * kBlockTokens);
  const CacheShare cache =
      cache_share(needs.backend.info(), needs.source.shape(), usable_bytes(options), options.cache_gib);
  choice.limits.n_kv_blocks = n_kv_blocks + cache.n_kv_blocks;
  choice.limits.n_state_slots = kSlotsPerSequence * options.parallel + cache.n_snapshots;
  choice.plan = plan_memory(needs.backend, needs.source, choice.limits);
  choice.program_bytes = needs.program_bytes;
  choice.usable_bytes = usable_bytes(options);
  return choice;
}

// The largest context, in whole blocks, whose single conversation fits; 0 when the smallest does not.
int largest_context(const MemoryNeeds& needs, const ModelOptions& options) {
  const auto fits = [&](int context) {
    const MemoryChoice choice = plan_blocks(needs, options, context, blocks_for(context));
    return choice.total_bytes() <= choice.usable_bytes;
  };
  if (fits(needs.max_context)) {
    return needs.max_context;
  }
  int below = 0;  // the largest number of blocks known to fit
  int above = blocks_for(needs.max_context);
  while (above - below > 1) {
    const int middle = below + (above - below) / 2;
    (fits(middle * kBlockTokens) ? below : above) = middle;
  }
  return below * kBlockTokens;
}

// Replies that run together share the pool. All of them get a whole context where half of the memory left
// over allows it; the first always does.
int pool_blocks(const MemoryNeeds& needs, const ModelOptions& options, int context) {
  const int one = blocks_for(context);
  const MemoryChoice single = plan_blocks(needs, options, context, one);
  const uint64_t left = single.usable_bytes - std::min(single.usable_bytes, single.total_bytes());
  const uint64_t block_bytes =
      std::max<uint64_t>(1, single.plan.kv_bytes / static_cast<uint64_t>(single.limits.n_kv_blocks));
  const auto affordable = static_cast<int>(std::min<uint64_t>(left / 2 / block_bytes, 1u << 24));
  return one + std::min(affordable, (options.parallel - 1) * one);
}

}  // namespace

MemoryChoice plan_for_context(const MemoryNeeds& needs, const ModelOptions& options, int context) {
  return plan_blocks(needs, options, context, blocks_for(context));
}

MemoryChoice choose_memory(const MemoryNeeds& needs, const ModelOptions& options) {
  if (options.context_tokens > needs.max_context) {
    fail(ErrorKind::kInvalidRequest, "--context {} is more than the {} tokens that this model was made for",
         options.context_tokens, needs.max_context);
  }
  const int largest = largest_context(needs, options);
  const int wanted = options.context_tokens > 0 ? options.context_tokens : needs.max_context;
  const int smallest = std::min(wanted, kSmallestContext);
  if (largest < smallest) {
    const MemoryChoice least = plan_for_context(needs, options, smallest);
    fail(ErrorKind::kOutOfMemory,
         "this model needs {} even with a context of {} tokens, and {} may be used; close other programs or "
         "use "
         "a machine with more memory",
         format_bytes(least.total_bytes()), smallest, format_bytes(least.usable_bytes));
  }
  if (options.context_tokens > largest) {
    const MemoryChoice asked = plan_for_context(needs, options, options.context_tokens);
    fail(ErrorKind::kOutOfMemory,
         "--context {} needs {} and {} may be used; the largest context that fits is {}",
         options.context_tokens, format_bytes(asked.total_bytes()), format_bytes(asked.usable_bytes),
         largest);
  }
  const int context = std::min(wanted, largest);
  MemoryChoice choice = plan_blocks(needs, options, context, pool_blocks(needs, options, context));
  choice.largest_context = largest;
  return choice;
}

void require_memory(const MemoryNeeds& needs, const ModelOptions& options, const StepLimits& limits) {
  const uint64_t needed =
      plan_memory(needs.backend, needs.source, limits).total_bytes() + needs.program_bytes;
  const uint64_t usable = usable_bytes(options);
  if (needed > usable) {
    fail(ErrorKind::kOutOfMemory,
         "{} are needed and {} may be used; ask for a smaller context or fewer sequences",
         format_bytes(needed), format_bytes(usable));
  }
}

std::string describe(const MemoryChoice& choice) {
  const MemoryPlan& plan = choice.plan;
  return fmt::format(
      "weights {} + KV cache {} + recurrent state {} + activations {} + program {} = {} of {} usable",
      format_bytes(plan.weight_bytes), format_bytes(plan.kv_bytes), format_bytes(plan.state_bytes),
      format_bytes(plan.activation_bytes), format_bytes(choice.program_bytes),
      format_bytes(choice.total_bytes()), format_bytes(choice.usable_bytes));
}

}  // namespace orfebre::cli
