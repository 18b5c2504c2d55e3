// `orfebre inspect`: what a checkpoint is, and what it needs at several contexts. Reads headers only.
#include "cli/app/load_model.h"
#include "cli/commands.h"
#include "cli/system/system_memory.h"

#include <fmt/core.h>

#include <map>

namespace orfebre::cli {
namespace {

constexpr int kTableContexts[] = {2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144};

uint64_t values_of(const MatrixSpec& spec) {
  return static_cast<uint64_t>(spec.n_matrices) * static_cast<uint64_t>(spec.n_out) *
         static_cast<uint64_t>(spec.n_in);
}

void print_model(const OpenedModel& opened) {
  const Checkpoint& checkpoint = *opened.checkpoint;
  const ShapeInfo& s = checkpoint.shape();
  uint64_t parameters = 0;
  uint64_t active = 0;
  std::map<int, uint64_t> by_bits;
  const auto experts = static_cast<uint64_t>(s.experts);
  const auto active_experts = static_cast<uint64_t>(s.active_experts);
  for (const MatrixSpec& spec : matrix_specs(s)) {
    const uint64_t values = values_of(spec);
    parameters += values;
    if (spec.role != MatrixRole::kEmbedding) {  // one row of it
      active += spec.n_matrices > 1 ? values / experts * active_experts : values;
    }
    by_bits[checkpoint.matrix_bits(spec)] += values;
  }
  fmt::print("{}\n", opened.directory);
  fmt::print("  shape        {}: {} layers ({} attention, {} Gated DeltaNet), hidden {}\n", s.name, s.layers,
             s.attention_layers(), s.delta_layers(), s.hidden);
  fmt::print("  experts      {} of {} a token, width {}, and one shared\n", s.active_experts, s.experts,
             s.expert_width);
  fmt::print("  heads        {} query, {} key-value of {}; {} key, {} value of {} in DeltaNet\n",
             s.query_heads, s.kv_heads, s.head_dim, s.key_heads, s.value_heads, s.delta_head_dim);
  fmt::print("  parameters   {:.1f} million, of which {:.1f} million work on a token\n",
             static_cast<double>(parameters) * 1e-6, static_cast<double>(active) * 1e-6);
  for (const auto& [bits, values] : by_bits) {
    fmt::print("  {:>2} bits      {:.1f} % of them\n", bits,
               100.0 * static_cast<double>(values) / static_cast<double>(parameters));
  }
  fmt::print("  vocabulary   {} rows, context up to {} tokens\n", s.vocab, checkpoint.config().max_context);
}

void print_memory(const OpenedModel& opened, const ModelOptions& options) {
  const MemoryNeeds needs = opened.memory_needs();
  fmt::print("\nMemory on backend {}, {} repl{} at once sharing one context:\n", opened.backend->info().name,
             options.parallel, options.parallel == 1 ? "y" : "ies");
  fmt::print("{:>9} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}  fits\n", "context", "weights", "KV cache",
             "state", "activ.", "program", "total");
  const auto print_row = [&](int context) {
    const MemoryChoice choice = plan_for_context(needs, options, context);
    fmt::print("{:>9} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}  {}\n", context,
               format_bytes(choice.plan.weight_bytes), format_bytes(choice.plan.kv_bytes),
               format_bytes(choice.plan.state_bytes), format_bytes(choice.plan.activation_bytes),
               format_bytes(choice.program_bytes), format_bytes(choice.total_bytes()),
               choice.total_bytes() <= choice.usable_bytes ? "yes" : "no");
  };
  for (const int context : kTableContexts) {
    if (context < needs.max_context) {
      print_row(context);
    }
  }
  print_row(needs.max_context);
  const MemoryChoice any = plan_for_context(needs, options, needs.max_context);
  fmt::print("{} may be used on this machine now.\n", format_bytes(any.usable_bytes));
}

}  // namespace

int run_command(const InspectCommand& command) {
  const OpenedModel opened = open_model(command.model);
  print_model(opened);
  print_memory(opened, command.model);
  return 0;
}

}  // namespace orfebre::cli
