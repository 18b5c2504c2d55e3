// A step: one pass of some rows through the model, the contract between engine and kernels.
// Decode: 1 to 8 rows in all, of one or several sequences. Prefill: rows of one sequence.
// Everything that varies from step to step is in here; op structs hold only pointers and constants.
#pragma once

#include "spec/shape.h"
#include "spec/step_header.h"

#include <cstdint>
#include <vector>

namespace orfebre {

enum class StepKind { kDecode, kPrefill };

struct Step {
  StepKind kind = StepKind::kDecode;
  std::vector<StepRow> rows;
  std::vector<StepSequence> sequences;
  std::vector<int32_t> block_tables;
  std::vector<int32_t> logit_rows;
};

// A header whose pointers lead into `step`, which must outlive it: for backends that share the host's memory.
StepHeader header_of(const Step& step);

// How much memory stands behind a step's indices.
struct StepLimits {
  int max_context = 0;       // positions are below this
  int max_prefill_rows = 0;  // rows of a Prefill step
  int n_kv_blocks = 0;
  int n_state_slots = 0;
};

// Throws Error(kInternal) when any id, position, block, slot, lane or row index is out of range or the
// step breaks the rules above: a wrong step never addresses memory.
void validate_step(const Step& step, const ShapeInfo& shape, const StepLimits& limits);

}  // namespace orfebre
