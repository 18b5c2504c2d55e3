// A model that notices every mistake of the scheduler. Its logits are a pure function of the whole token
// history, which it keeps only where it is told to: each token in the KV row that the step's block table
// names, and a running hash in the state slots. A wrong block, a stale or shared slot, a missing or repeated
// row, a lane that was not reset: each changes the reply. `expected_reply` computes the same reply without
// any of it.
#pragma once

#include "engine/request.h"
#include "model/executor.h"

#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace orfebre::testing {

using PolicyMaker = std::function<std::unique_ptr<TokenPolicy>()>;

// What the executor and the expectation share: one hash of a history into logits, and the choice among them.
std::vector<float> fake_logits(uint64_t history_hash, int vocab);
uint64_t extend_history(uint64_t hash, int32_t token, int position);
PickResult fake_choice(const std::vector<float>& logits, const PickRow& row, const PickBatch& batch,
                       std::vector<uint32_t>& lane_counts);

struct FakeOptions {
  int vocab = 97;
  int max_context = 512;
  int max_prefill_rows = 128;
  int n_kv_blocks = 64;
  int n_state_slots = 16;
  bool deferred = false;  // as a device: a pick's results are made known by wait() only
  bool decode_state_is_exact =
      true;  // if not, a prompt that goes on from a decode step's rows says other things
};

class FakeExecutor final : public Executor {
 public:
  explicit FakeExecutor(const FakeOptions& options);

  const ShapeInfo& shape() const override { return shape_; }
  const StepLimits& limits() const override { return limits_; }
  StateTraits state_traits() const override { return {1000, 70000, decode_state_is_exact_}; }
  bool forward(const Step& step, const std::atomic<bool>* cancel) override;
  void pick(const PickBatch& batch) override;
  std::span<const PickResult> wait() override;
  void reset_lane(int lane, std::span<const int32_t> prompt) override;
  void copy_state(int to_slot, int from_slot) override;

  // Memory that nobody owns any more holds nothing of use.
  void poison_slot(int32_t slot) { slots_[static_cast<size_t>(slot)] = {0xbad, -7, false}; }
  void poison_block(int32_t block);

  // Hooks of the tests. `on_layer` is called 4 times a forward, before the cancel flag is read.
  std::function<void(const Step&, int layer)> on_layer;
  std::function<void(const PickBatch&)> on_pick;
  std::vector<Step> steps;  // every forward, kept if keep_steps
  bool keep_steps = false;
  int32_t poison_token = -1;  // a history that contains it has logits that are not finite

 private:
  struct KvRow {
    int32_t token = -1;
    int32_t position = -1;
    bool is_rounded = false;  // made by a decode step that is not exact
  };
  struct State {
    uint64_t hash = 0;
    int n_tokens = -1;
    bool is_rounded = false;
  };
  void run_sequence(const Step& step, const StepSequence& sequence);
  bool starts_rounded(const Step& step, const StepSequence& sequence) const;
  void spoil(const Step& step);

  ShapeInfo shape_;
  StepLimits limits_;
  bool deferred_;
  bool decode_state_is_exact_;
  std::thread::id thread_{};
  std::vector<KvRow> kv_;                     // [n_kv_blocks * 64]
  std::vector<State> slots_;                  // [n_state_slots]
  std::vector<std::vector<uint32_t>> lanes_;  // [kMaxLanes][vocab] counts
  std::vector<int32_t> picked_;               // [kMaxLanes]
  std::vector<uint64_t> row_hashes_;          // of the last forward
  std::vector<bool> row_finite_;
  std::vector<int32_t> logit_rows_;
  std::vector<PickResult> results_;  // of the last pick
  std::vector<PickResult> known_;    // what wait() has made known
};

// The reply that `request` must get, whatever runs beside it, and why it ends.
struct ExpectedReply {
  std::vector<int32_t> tokens;
  FinishReason finish = FinishReason::kStop;
};
ExpectedReply expected_reply(const Request& request, const PolicyMaker& make_policy, int max_context,
                             int vocab, int n_vocab);

}  // namespace orfebre::testing
