// `orfebre inspect`: what a checkpoint is, and what it needs at several contexts. Reads headers only.
#include "cli/app/load_model.h"
#include "cli/commands.h"
#include "cli/system/system_memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace orfebre::cli {
namespace {

constexpr int kTableContexts[] = {2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144};
constexpr uint64_t kTableMachines[] = {16, 24, 32, 48, 64};  // GiB, sold as GB

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

void print_context_row(const MemoryNeeds& needs, const ModelOptions& options, int context) {
  const MemoryChoice choice = plan_for_context(needs, options, context);
  fmt::print("{:>9} {:>10} ", context, format_bytes(choice.plan.weight_bytes));
  if (options.stream_experts) {
    fmt::print("{:>10} ", format_bytes(choice.plan.expert_bytes));
  }
  fmt::print("{:>10} {:>10} {:>10} {:>10} {:>10}  {}\n", format_bytes(choice.plan.kv_bytes),
             format_bytes(choice.plan.state_bytes),
             format_bytes(choice.plan.activation_bytes + choice.plan.scratch_bytes),
             format_bytes(choice.program_bytes), format_bytes(choice.total_bytes()),
             choice.fits() ? "yes" : "no");
}

// The same plan that `serve` makes with --context.
void print_contexts(const MemoryNeeds& needs, const ModelOptions& options) {
  fmt::print(
      "\nMemory that serve takes on backend {} with --context and --parallel {}; {} may be used now:\n",
      needs.backend.info().name, options.parallel, format_bytes(needs.usable_bytes));
  fmt::print("{:>9} {:>10} {}{:>10} {:>10} {:>10} {:>10} {:>10}  fits\n", "context", "weights",
             options.stream_experts ? fmt::format("{:>10} ", "experts") : "", "KV cache", "state", "activ.",
             "program", "total");
  for (const int context : kTableContexts) {
    if (context < needs.max_context) {
      print_context_row(needs, options, context);
    }
  }
  print_context_row(needs, options, needs.max_context);
}

// What a machine of another size could do.
void print_machines(const MemoryNeeds& needs, ModelOptions options) {
  const bool may_stream = needs.backend.info().streams_experts;
  fmt::print("\nLargest context by the machine's memory, of which 1.5 GiB and a sixteenth stay free:\n");
  fmt::print("{:>9} {:>10} {:>15}{}\n", "machine", "usable", "context",
             may_stream ? "   experts in memory with --load stream" : "");
  for (const uint64_t gib : kTableMachines) {
    MemoryNeeds machine = needs;
    machine.usable_bytes = usable_of_machine(gib << 30);
    options.stream_experts = false;
    const int largest = largest_context(machine, options);
    fmt::print("{:>6} GB {:>10} {:>15}", gib, format_bytes(machine.usable_bytes),
               largest > 0 ? fmt::format("{}", largest) : "does not fit");
    if (may_stream) {
      options.stream_experts = true;
      const int context = std::min(kStreamedContext, machine.max_context);
      const MemoryChoice choice = plan_for_context(machine, options, context);
      const uint64_t all = expert_sizes(machine.backend, machine.source).all_bytes;
      fmt::print("   {}", choice.fits()
                              ? fmt::format("{} of {} at context {}", format_bytes(choice.plan.expert_bytes),
                                            format_bytes(all), context)
                              : "does not fit");
    }
    fmt::print("\n");
  }
}

}  // namespace

int run_command(const InspectCommand& command) {
  const OpenedModel opened = open_model(command.model);
  print_model(opened);
  const MemoryNeeds needs = opened.memory_needs(command.model);
  print_contexts(needs, command.model);
  print_machines(needs, command.model);
  return 0;
}

}  // namespace orfebre::cli
