// What the engine drives: forward passes, picks and state slots of one loaded model. Model implements it;
// the engine's tests put a scripted one in its place. One thread uses it.
#pragma once

#include "backend/params.h"
#include "spec/step.h"

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace orfebre {

// Everything one pick launch needs beside the logits.
struct PickBatch {
  std::vector<PickRow> rows;
  std::vector<int32_t> bias_ids;
  std::vector<float> bias_values;
  std::vector<uint32_t> masks;  // [n_masks, (vocab + 31) / 32]
};

// What the memory behind blocks and slots is like.
struct StateTraits {
  uint64_t kv_block_bytes = 0;    // of a block, all layers together
  uint64_t state_slot_bytes = 0;  // of a slot
  bool decode_state_is_exact =
      false;  // decode steps leave KV rows and state equal, bit by bit, to a prefill's
};

class Executor {
 public:
  virtual ~Executor() = default;

  virtual const ShapeInfo& shape() const = 0;
  virtual const StepLimits& limits() const = 0;
  virtual StateTraits state_traits() const = 0;

  // Enqueues a forward pass. `cancel`, if given, is read between layers; returns false when it was set: the
  // step's state_out slot and new KV rows then hold nothing of use.
  virtual bool forward(const Step& step, const std::atomic<bool>* cancel) = 0;

  // Enqueues the pick of the last forward's logit rows. A constrained row's mask is in the batch by now.
  virtual void pick(const PickBatch& batch) = 0;

  // Waits for everything enqueued and returns the last pick's results, one a row of its batch.
  virtual std::span<const PickResult> wait() = 0;

  // Starts a lane's history: the prompt's ids for the repetition penalty, no reply yet.
  virtual void reset_lane(int lane, std::span<const int32_t> prompt) = 0;

  virtual void copy_state(int to_slot, int from_slot) = 0;
};

}  // namespace orfebre
