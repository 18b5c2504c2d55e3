// One sequence through a Model without an engine: for checks that look at logits. Owns no memory of the
// model; two runs at once need different places.
#pragma once

#include "model/model.h"

#include <atomic>
#include <span>
#include <vector>

namespace orfebre {

class SequenceRun {
 public:
  // Uses the blocks [place * blocks, (place + 1) * blocks), the state slots 2 * place and 2 * place + 1, and
  // the lane `place`, with blocks enough for `max_tokens`. `cancel`, if given, ends a feed with
  // Error(kInternal).
  SequenceRun(Model& model, int max_tokens, const std::atomic<bool>* cancel, int place = 0);

  // Runs `ids` in prefill steps of at most `chunk` rows. Returns the last row's logits, [vocab].
  std::vector<float> prefill(std::span<const int32_t> ids, int chunk);
  // Runs one id as a decode step. Returns its logits, [vocab].
  std::vector<float> decode(int32_t id);

 private:
  std::vector<float> run(StepKind kind, std::span<const int32_t> ids, bool wants_logits);

  Model& model_;
  const std::atomic<bool>* cancel_;
  int place_;
  int blocks_;
  int position_ = 0;
  int state_in_ = kNoState;
};

}  // namespace orfebre
