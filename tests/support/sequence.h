// One sequence through a Model, without an engine: it hands out blocks and state slots in a deliberately
// scattered order, builds the steps and reads the logits. For tests of models and backends.
#pragma once

#include "model/model.h"

#include <memory>
#include <span>
#include <vector>

namespace orfebre::test {

// A model of the RandomWeights of the backend's shape (Probe or Demo), with room for 4 sequences of 512
// positions.
std::unique_ptr<Model> make_random_model(std::unique_ptr<Backend> backend);

// What make_random_model asks for.
StepLimits small_limits();

class Sequence {
 public:
  // `place` 0..3 decides which blocks, slots and lane it uses; sequences of one model need different places.
  explicit Sequence(Model& model, int place = 0);

  // Runs tokens as one prefill (or, if `kind` says so, one decode) step. Returns the logits [rows, vocab] of
  // those rows, counted from the first of `tokens`; at most 8 of them.
  std::vector<float> feed(std::span<const int32_t> tokens, std::span<const int32_t> logit_rows,
                          StepKind kind = StepKind::kPrefill);

  // The same without running it, for steps of several sequences: appended to `step`. The caller then runs it.
  void append_to(Step& step, std::span<const int32_t> tokens);

  int position() const { return position_; }
  int lane() const { return place_; }

 private:
  Model& model_;
  int place_;
  int position_ = 0;
  int state_in_ = kNoState;
  int state_out_;
};

}  // namespace orfebre::test
