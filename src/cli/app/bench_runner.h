// Times prefill and decode of a loaded Model, driven directly: no engine, no text, random token ids.
#pragma once

#include "model/model.h"

#include <cstdint>
#include <random>
#include <vector>

namespace orfebre::cli {

struct BenchShape {
  int context = 0;         // tokens before the measured prefill; with prefill_tokens at least 1
  int prefill_tokens = 0;  // a sequence
  int decode_tokens = 0;   // a sequence
  int sequences = 1;
};

// One repetition; seconds are 0 for a part of 0 tokens.
struct BenchTimes {
  double prefill_seconds = 0;  // all sequences' prompts, one after another
  double decode_seconds = 0;   // all steps; a step gives every sequence one token
};

// The limits that a model needs for all of `shapes`.
StepLimits bench_limits(const std::vector<BenchShape>& shapes);

class BenchRunner {
 public:
  // Slots of a sequence: the state after the context, and two that the measured steps write in turn.
  static constexpr int kSlots = 3;

  explicit BenchRunner(Model& model) : model_(model) {}

  // Fills the context once, then measures `repeat` times from the same state. Throws Error, also when a stop
  // signal came.
  std::vector<BenchTimes> run(const BenchShape& shape, int repeat);

 private:
  static int snapshot_slot(int sequence) { return kSlots * sequence; }
  static int working_slot(int sequence, int step) { return kSlots * sequence + 1 + step % 2; }

  // Prefills [first, first + n_tokens) of a sequence; `state` in and out is the slot that holds its state.
  void prefill(int sequence, int first, int n_tokens, int& state);
  // One step that gives each sequence its next token. `states` as above, one a sequence.
  void decode(int position, std::vector<int>& states, int step);
  void fill_block_table(Step& step, int sequence, int n_tokens) const;
  void pick(int n_rows, int first_lane, int position);

  Model& model_;
  int blocks_per_sequence_ = 0;
  std::mt19937 random_{1};
};

// Bytes of memory that one decode step reads and writes: weights of the experts it uses, state, KV cache.
// For several sequences the experts are counted as if each sequence chose at random.
double decode_step_bytes(const ShapeInfo& shape, uint64_t dense_bytes, uint64_t expert_bytes,
                         const BackendInfo& info, int sequences, int context);

}  // namespace orfebre::cli
