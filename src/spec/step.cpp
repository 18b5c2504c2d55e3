#include "spec/step.h"

#include "base/error.h"

namespace orfebre {
namespace {

void require(bool condition, const char* what, int64_t found) {
  if (!condition) {
    fail(ErrorKind::kInternal, "step: {}, found {}", what, found);
  }
}

void validate_sequence(const Step& step, const StepSequence& sequence, int index, const StepLimits& limits) {
  const auto n_rows = static_cast<int64_t>(step.rows.size());
  require(sequence.n_rows >= 1, "a sequence has at least one row", sequence.n_rows);
  require(sequence.first_row >= 0 && int64_t{sequence.first_row} + sequence.n_rows <= n_rows,
          "a sequence's rows lie inside the step", sequence.first_row);
  require(sequence.state_in >= kNoState && sequence.state_in < limits.n_state_slots,
          "state_in is a slot or kNoState", sequence.state_in);
  require(sequence.state_out >= 0 && sequence.state_out < limits.n_state_slots, "state_out is a slot",
          sequence.state_out);
  require(sequence.accepted_rows >= 1 && sequence.accepted_rows <= sequence.n_rows,
          "accepted_rows lies in 1..n_rows", sequence.accepted_rows);
  require(sequence.lane >= 0 && sequence.lane < kMaxLanes, "lane lies in 0..7", sequence.lane);
  for (const StepSequence& other : step.sequences) {
    require(other.state_in != sequence.state_out, "state_out is nobody's state_in", sequence.state_out);
    require(&other == &sequence || other.state_out != sequence.state_out, "state_out is written once",
            sequence.state_out);
  }
  const int first_position = step.rows[static_cast<size_t>(sequence.first_row)].position;
  for (int i = 0; i < sequence.n_rows; ++i) {
    const StepRow& row = step.rows[static_cast<size_t>(sequence.first_row + i)];
    require(row.sequence == index, "a row belongs to the sequence that lists it", row.sequence);
    require(row.position == first_position + i, "positions of a sequence are consecutive", row.position);
  }
  require(first_position >= 0 && int64_t{first_position} + sequence.n_rows <= limits.max_context,
          "positions lie inside the context", first_position);
  const int last_block = (first_position + sequence.n_rows - 1) / kBlockTokens;
  require(sequence.block_table >= 0 &&
              int64_t{sequence.block_table} + last_block < static_cast<int64_t>(step.block_tables.size()),
          "the block table covers every position", sequence.block_table);
  for (int b = 0; b <= last_block; ++b) {
    const int block = step.block_tables[static_cast<size_t>(sequence.block_table + b)];
    require(block >= 0 && block < limits.n_kv_blocks, "a block table holds blocks", block);
  }
}

}  // namespace

StepHeader header_of(const Step& step) {
  return {step.kind == StepKind::kPrefill ? 1 : 0,
          static_cast<int32_t>(step.rows.size()),
          static_cast<int32_t>(step.sequences.size()),
          static_cast<int32_t>(step.logit_rows.size()),
          step.rows.data(),
          step.sequences.data(),
          step.block_tables.data(),
          step.logit_rows.data()};
}

void validate_step(const Step& step, const ShapeInfo& shape, const StepLimits& limits) {
  const bool prefill = step.kind == StepKind::kPrefill;
  const auto n_rows = static_cast<int64_t>(step.rows.size());
  require(n_rows >= 1 && n_rows <= (prefill ? limits.max_prefill_rows : kMaxDecodeRows),
          "the number of rows fits the kind of step", n_rows);
  require(!step.sequences.empty() && (!prefill || step.sequences.size() == 1),
          "a prefill has one sequence, a decode at least one", static_cast<int64_t>(step.sequences.size()));
  int64_t listed_rows = 0;
  for (size_t i = 0; i < step.sequences.size(); ++i) {
    validate_sequence(step, step.sequences[i], static_cast<int>(i), limits);
    listed_rows += step.sequences[i].n_rows;
  }
  require(listed_rows == n_rows, "every row belongs to one sequence", listed_rows);
  for (const StepRow& row : step.rows) {
    require(row.token >= kTokenFromPick && row.token < shape.vocab, "a token id is inside the vocabulary",
            row.token);
  }
  int previous = -1;
  for (const int32_t row : step.logit_rows) {
    require(row > previous && row < n_rows, "logit rows ascend inside the step", row);
    previous = row;
  }
  require(static_cast<int>(step.logit_rows.size()) <= kMaxDecodeRows, "at most 8 rows need logits",
          static_cast<int64_t>(step.logit_rows.size()));
}

}  // namespace orfebre
