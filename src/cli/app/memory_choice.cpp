#include "cli/app/memory_choice.h"

#include "base/error.h"
#include "cli/app/cache_share.h"
#include "cli/system/system_memory.h"
#include "engine/kv_pool.h"
#include "engine/state_slots.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace orfebre::cli {
namespace {

constexpr int kSmallestContext = 1024;  // less is of no use
constexpr double kGib = 1073741824.0;

// What streamed experts take at least: as --expert-memory says, or one layer's. 0 when they are not streamed.
uint64_t least_expert_bytes(const MemoryNeeds& needs, const ModelOptions& options) {
  if (!options.stream_experts) {
    return 0;
  }
  const ExpertSizes sizes = expert_sizes(needs.backend, needs.source);
  return options.expert_memory_gib > 0
             ? std::min(static_cast<uint64_t>(options.expert_memory_gib * kGib), sizes.all_bytes)
             : sizes.layer_bytes;
}

MemoryChoice plan_limits(const MemoryNeeds& needs, const StepLimits& limits, uint64_t expert_bytes) {
  MemoryChoice choice;
  choice.limits = limits;
  choice.plan = plan_memory(needs.backend, needs.source, limits, expert_bytes);
  choice.program_bytes = needs.program_bytes;
  choice.usable_bytes = needs.usable_bytes;
  return choice;
}

MemoryChoice plan_with_cache(const MemoryNeeds& needs, const ModelOptions& options, int context,
                             int n_kv_blocks, const CacheShare& cache) {
  StepLimits limits;
  limits.max_context = context;
  limits.max_prefill_rows = std::min(kPrefillRows, blocks_for(context) * kBlockTokens);
  limits.n_kv_blocks = n_kv_blocks + cache.n_kv_blocks;
  limits.n_state_slots = kSlotsPerSequence * options.parallel + cache.n_snapshots;
  MemoryChoice choice = plan_limits(needs, limits, least_expert_bytes(needs, options));
  choice.n_snapshots = cache.n_snapshots;
  return choice;
}

// The prefix cache's own share. One that nobody asked for is given up where the context would not fit beside
// it.
CacheShare affordable_cache(const MemoryNeeds& needs, const ModelOptions& options) {
  const CacheShare share =
      cache_share(needs.backend.info(), needs.source.shape(), needs.usable_bytes, options.cache_gib);
  if (options.cache_gib >= 0) {
    return share;
  }
  const int least = std::min(std::max(options.context_tokens, kSmallestContext), needs.max_context);
  return plan_with_cache(needs, options, least, blocks_for(least), share).fits() ? share : CacheShare{};
}

MemoryChoice plan_blocks(const MemoryNeeds& needs, const ModelOptions& options, int context,
                         int n_kv_blocks) {
  return plan_with_cache(needs, options, context, n_kv_blocks, affordable_cache(needs, options));
}

MemoryChoice plan_one(const MemoryNeeds& needs, const ModelOptions& options, int context) {
  return plan_blocks(needs, options, context, blocks_for(context));
}

uint64_t left_over(const MemoryChoice& choice) {
  return choice.usable_bytes - std::min(choice.usable_bytes, choice.total_bytes());
}

// Replies that run together share the pool. All of them get a whole context where half of the memory left
// over allows it; the first always does.
int pool_blocks(const MemoryNeeds& needs, const ModelOptions& options, int context) {
  const int one = blocks_for(context);
  const MemoryChoice single = plan_one(needs, options, context);
  const uint64_t block_bytes =
      std::max<uint64_t>(1, single.plan.kv_bytes / static_cast<uint64_t>(single.limits.n_kv_blocks));
  const auto affordable = static_cast<int>(std::min<uint64_t>(left_over(single) / 2 / block_bytes, 1u << 24));
  return one + std::min(affordable, (options.parallel - 1) * one);
}

// Streamed experts get what is left, save where --expert-memory says how much.
void spend_rest_on_experts(MemoryChoice& choice, const MemoryNeeds& needs, const ModelOptions& options) {
  if (options.stream_experts && options.expert_memory_gib <= 0) {
    const uint64_t all = expert_sizes(needs.backend, needs.source).all_bytes;
    choice.plan.expert_bytes = std::min(choice.plan.expert_bytes + left_over(choice), all);
  }
}

// What somebody can do who has too little memory for `needed` bytes.
std::string more_memory(const ModelOptions& options, uint64_t needed) {
  if (options.memory_gib > 0) {
    return fmt::format("raise --memory to {:.1f}", std::ceil(static_cast<double>(needed) / kGib * 10) / 10);
  }
  return "close other programs or use a machine with more memory";
}

void check_options(const MemoryNeeds& needs, const ModelOptions& options) {
  if (options.expert_memory_gib > 0 && !options.stream_experts) {
    fail(ErrorKind::kInvalidRequest, "--expert-memory has no meaning without --load stream; add it");
  }
  if (options.stream_experts && !needs.backend.info().streams_experts) {
    fail(ErrorKind::kInvalidRequest,
         "--load stream needs a backend that reads experts from disk, found {}; use --backend cpu",
         needs.backend.info().name);
  }
  const uint64_t least = options.stream_experts ? expert_sizes(needs.backend, needs.source).layer_bytes : 0;
  if (options.stream_experts && least_expert_bytes(needs, options) < least) {
    fail(ErrorKind::kInvalidRequest,
         "--expert-memory {} is less than the experts of one layer; use {:.2f} or more",
         options.expert_memory_gib, std::ceil(static_cast<double>(least) / kGib * 100) / 100);
  }
}

// The same, led by --load stream where that would make `limits` fit.
std::string remedy(const MemoryNeeds& needs, const ModelOptions& options, const StepLimits& limits,
                   uint64_t needed) {
  ModelOptions streamed = options;
  streamed.stream_experts = true;
  const bool may_stream = !options.stream_experts && needs.backend.info().streams_experts &&
                          plan_limits(needs, limits, least_expert_bytes(needs, streamed)).fits();
  return (may_stream ? "add --load stream, which leaves the experts on disk and is slower, or " : "") +
         more_memory(options, needed);
}

}  // namespace

int largest_context(const MemoryNeeds& needs, const ModelOptions& options) {
  if (plan_one(needs, options, needs.max_context).fits()) {
    return needs.max_context;
  }
  int below = 0;  // the largest number of blocks known to fit
  int above = blocks_for(needs.max_context);
  while (above - below > 1) {
    const int middle = below + (above - below) / 2;
    (plan_one(needs, options, middle * kBlockTokens).fits() ? below : above) = middle;
  }
  return below * kBlockTokens;
}

MemoryChoice plan_for_context(const MemoryNeeds& needs, ModelOptions options, int context) {
  options.context_tokens = context;
  MemoryChoice choice = plan_blocks(needs, options, context, pool_blocks(needs, options, context));
  spend_rest_on_experts(choice, needs, options);
  return choice;
}

MemoryChoice choose_memory(const MemoryNeeds& needs, const ModelOptions& options) {
  check_options(needs, options);
  if (options.context_tokens > needs.max_context) {
    fail(ErrorKind::kInvalidRequest, "--context {} is more than the {} tokens that this model was made for",
         options.context_tokens, needs.max_context);
  }
  const int largest = largest_context(needs, options);
  const int by_default =
      options.stream_experts ? std::min(kStreamedContext, needs.max_context) : needs.max_context;
  const int wanted = options.context_tokens > 0 ? options.context_tokens : by_default;
  const int smallest = std::min(wanted, kSmallestContext);
  if (largest < smallest) {
    const MemoryChoice least = plan_one(needs, options, smallest);
    fail(ErrorKind::kOutOfMemory,
         "this model needs {} even with a context of {} tokens, and {} may be used; {}",
         format_bytes(least.total_bytes()), smallest, format_bytes(least.usable_bytes),
         remedy(needs, options, least.limits, least.total_bytes()));
  }
  if (options.context_tokens > largest) {
    const MemoryChoice asked = plan_one(needs, options, options.context_tokens);
    fail(ErrorKind::kOutOfMemory,
         "--context {} needs {} and {} may be used; the largest context that fits is {}: use --context {} or "
         "less, or {}",
         options.context_tokens, format_bytes(asked.total_bytes()), format_bytes(asked.usable_bytes), largest,
         largest, more_memory(options, asked.total_bytes()));
  }
  MemoryChoice choice = plan_for_context(needs, options, std::min(wanted, largest));
  choice.largest_context = largest;
  return choice;
}

MemoryChoice choose_memory(const MemoryNeeds& needs, const ModelOptions& options, const StepLimits& limits) {
  check_options(needs, options);
  MemoryChoice choice = plan_limits(needs, limits, least_expert_bytes(needs, options));
  if (!choice.fits()) {
    fail(ErrorKind::kOutOfMemory,
         "{} are needed and {} may be used; ask for a smaller context or fewer sequences, or {}",
         format_bytes(choice.total_bytes()), format_bytes(choice.usable_bytes),
         remedy(needs, options, limits, choice.total_bytes()));
  }
  spend_rest_on_experts(choice, needs, options);
  return choice;
}

std::string describe(const MemoryChoice& choice) {
  const MemoryPlan& plan = choice.plan;
  const std::string experts =
      plan.expert_bytes > 0 ? fmt::format(" + experts in memory {}", format_bytes(plan.expert_bytes)) : "";
  const std::string snapshots =
      choice.n_snapshots > 0 ? fmt::format(" ({} snapshots of the prefix cache)", choice.n_snapshots) : "";
  return fmt::format(
      "weights {}{} + KV cache {} + recurrent state {}{} + activations {} + program {} = {} of {} usable",
      format_bytes(plan.weight_bytes), experts, format_bytes(plan.kv_bytes), format_bytes(plan.state_bytes),
      snapshots, format_bytes(plan.activation_bytes + plan.scratch_bytes), format_bytes(choice.program_bytes),
      format_bytes(choice.total_bytes()), format_bytes(choice.usable_bytes));
}

}  // namespace orfebre::cli
