#include "cli/app/bench_runner.h"

#include "base/error.h"
#include "cli/app/memory_choice.h"
#include "cli/system/signals.h"
#include "engine/kv_pool.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace orfebre::cli {
namespace {

int tokens_of(const BenchShape& shape) {
  return shape.context + shape.prefill_tokens + shape.decode_tokens;
}

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void stop_if_asked() {
  if (stop_requested().load()) {
    fail(ErrorKind::kInternal, "stopped by a signal");
  }
}

}  // namespace

StepLimits bench_limits(const std::vector<BenchShape>& shapes) {
  StepLimits limits;
  for (const BenchShape& shape : shapes) {
    limits.max_context = std::max(limits.max_context, std::max(1, tokens_of(shape)));
    limits.n_kv_blocks =
        std::max(limits.n_kv_blocks, shape.sequences * std::max(1, blocks_for(tokens_of(shape))));
    limits.n_state_slots = std::max(limits.n_state_slots, BenchRunner::kSlots * shape.sequences);
  }
  limits.max_prefill_rows = std::clamp(limits.max_context, 1, kPrefillRows);
  return limits;
}

std::vector<BenchTimes> BenchRunner::run(const BenchShape& shape, int repeat) {
  blocks_per_sequence_ = std::max(1, blocks_for(tokens_of(shape)));
  std::vector<int> after_context(static_cast<size_t>(shape.sequences), kNoState);
  for (int s = 0; s < shape.sequences; ++s) {
    int& state = after_context[static_cast<size_t>(s)];
    prefill(s, 0, shape.context, state);
    if (state != kNoState) {
      model_.copy_state(snapshot_slot(s), state);
      state = snapshot_slot(s);
    }
  }
  std::vector<BenchTimes> all;
  for (int repetition = 0; repetition < repeat; ++repetition) {
    BenchTimes times;
    std::vector<int> states = after_context;
    const Stopwatch prefill_watch;
    for (int s = 0; s < shape.sequences; ++s) {
      prefill(s, shape.context, shape.prefill_tokens, states[static_cast<size_t>(s)]);
    }
    times.prefill_seconds = shape.prefill_tokens > 0 ? prefill_watch.seconds() : 0;
    const Stopwatch decode_watch;
    for (int step = 0; step < shape.decode_tokens; ++step) {
      decode(shape.context + shape.prefill_tokens + step, states, step);
    }
    times.decode_seconds = shape.decode_tokens > 0 ? decode_watch.seconds() : 0;
    all.push_back(times);
  }
  return all;
}

void BenchRunner::fill_block_table(Step& step, int sequence, int n_tokens) const {
  step.sequences.back().block_table = static_cast<int>(step.block_tables.size());
  for (int b = 0; b < blocks_for(n_tokens); ++b) {
    step.block_tables.push_back(sequence * blocks_per_sequence_ + b);
  }
}

void BenchRunner::prefill(int sequence, int first, int n_tokens, int& state) {
  const int end = first + n_tokens;
  std::uniform_int_distribution<int> any_token(0, model_.shape().vocab - 1);
  for (int chunk = 0; first < end; ++chunk) {
    stop_if_asked();
    const int n_rows = std::min(model_.limits().max_prefill_rows, end - first);
    const int out = working_slot(sequence, state == working_slot(sequence, chunk) ? chunk + 1 : chunk);
    Step step;
    step.kind = StepKind::kPrefill;
    for (int row = 0; row < n_rows; ++row) {
      step.rows.push_back({any_token(random_), first + row, 0});
    }
    step.sequences.push_back({0, n_rows, 0, state, out, n_rows, sequence});
    fill_block_table(step, sequence, first + n_rows);
    if (first + n_rows == end) {
      step.logit_rows.push_back(n_rows - 1);
    }
    model_.forward(step, nullptr);
    state = out;
    first += n_rows;
  }
  if (n_tokens > 0) {
    pick(1, sequence, end);
  }
}

void BenchRunner::decode(int position, std::vector<int>& states, int step_index) {
  stop_if_asked();
  const int n_sequences = static_cast<int>(states.size());
  Step step;
  step.kind = StepKind::kDecode;
  for (int s = 0; s < n_sequences; ++s) {
    int& state = states[static_cast<size_t>(s)];
    const int out = working_slot(s, state == working_slot(s, step_index) ? step_index + 1 : step_index);
    step.rows.push_back({kTokenFromPick, position, s});
    step.sequences.push_back({s, 1, 0, state, out, 1, s});
    fill_block_table(step, s, position + 1);
    step.logit_rows.push_back(s);
    state = out;
  }
  model_.forward(step, nullptr);
  pick(n_sequences, 0, position + 1);
}

void BenchRunner::pick(int n_rows, int first_lane, int position) {
  PickBatch batch;
  for (int row = 0; row < n_rows; ++row) {
    PickRow pick{};
    pick.logit_row = row;
    pick.lane = first_lane + row;
    pick.position = position;
    pick.forced_token = -1;
    pick.n_vocab = model_.shape().vocab;
    pick.top_p = 1;
    pick.repetition_penalty = 1;
    pick.mask = -1;
    batch.rows.push_back(pick);
  }
  model_.pick(batch);
  for (const PickResult& result : model_.wait()) {
    if (result.status != kPickOk) {
      fail(ErrorKind::kBackend, "bench: the model's logits are not finite numbers");
    }
  }
}

double decode_step_bytes(const ShapeInfo& shape, uint64_t dense_bytes, uint64_t expert_bytes,
                         const BackendInfo& info, int sequences, int context) {
  const double missed = 1.0 - static_cast<double>(shape.active_experts) / shape.experts;
  const double used_share = 1.0 - std::pow(missed, sequences);
  const double state_bytes =
      2.0 * static_cast<double>(info.state_slot_floats) * sizeof(float);  // read, written
  const double kv_bytes =
      static_cast<double>(info.kv_block_bytes) / kBlockTokens * context * shape.attention_layers();
  return static_cast<double>(dense_bytes) + used_share * static_cast<double>(expert_bytes) +
         sequences * (state_bytes + kv_bytes);
}

}  // namespace orfebre::cli
