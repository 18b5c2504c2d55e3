#include "verify/sequence_run.h"

#include "base/error.h"

#include <algorithm>

namespace orfebre {

SequenceRun::SequenceRun(Model& model, int max_tokens, const std::atomic<bool>* cancel, int place)
    : model_(model),
      cancel_(cancel),
      place_(place),
      blocks_((max_tokens + kBlockTokens - 1) / kBlockTokens) {}

std::vector<float> SequenceRun::prefill(std::span<const int32_t> ids, int chunk) {
  std::vector<float> logits;
  chunk = std::min(chunk, model_.limits().max_prefill_rows);
  for (size_t first = 0; first < ids.size(); first += static_cast<size_t>(chunk)) {
    const size_t n_rows = std::min(ids.size() - first, static_cast<size_t>(chunk));
    logits = run(StepKind::kPrefill, ids.subspan(first, n_rows), first + n_rows == ids.size());
  }
  return logits;
}

std::vector<float> SequenceRun::decode(int32_t id) {
  return run(StepKind::kDecode, {&id, 1}, true);
}

std::vector<float> SequenceRun::run(StepKind kind, std::span<const int32_t> ids, bool wants_logits) {
  const auto n_rows = static_cast<int32_t>(ids.size());
  const int state_out = state_in_ == 2 * place_ ? 2 * place_ + 1 : 2 * place_;
  Step step;
  step.kind = kind;
  for (const int32_t id : ids) {
    step.rows.push_back({id, position_++, 0});
  }
  step.sequences.push_back({0, n_rows, 0, state_in_, state_out, n_rows, place_});
  for (int block = 0; block < blocks_; ++block) {
    step.block_tables.push_back(place_ * blocks_ + block);
  }
  if (wants_logits) {
    step.logit_rows.push_back(n_rows - 1);
  }
  state_in_ = state_out;
  if (!model_.forward(step, cancel_)) {
    fail(ErrorKind::kInternal, "stopped by a signal");
  }
  return wants_logits ? model_.read_logits() : std::vector<float>{};
}

}  // namespace orfebre
