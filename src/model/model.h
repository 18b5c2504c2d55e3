// A loaded model: a backend, its weights, and the memory of state: activations, KV blocks, recurrent state
// slots, pick history. It knows indices of blocks and slots; who owns them is the engine's business.
#pragma once

#include "backend/backend.h"
#include "model/executor.h"
#include "model/weights.h"

#include <memory>
#include <vector>

namespace orfebre {

// Activation buffers of a step, in device memory; R is at most the larger of the two row limits.
struct Activations {
  float* residual;        // [R, hidden]
  float* rope;            // [R, 64]
  float* qkv;             // [R, conv_channels]
  float* z;               // [R, value_width]
  float* a;               // [R, value_heads]
  float* b;               // [R, value_heads]
  float* q;               // [R, query_width]
  float* gate;            // [R, query_width]
  float* mixed;           // [R, max(value_width, query_width)]
  float* normed;          // [R, hidden]
  int32_t* expert_ids;    // [R, 8]
  float* expert_weights;  // [R, 8]
  float* shared_weight;   // [R]
  float* activated;       // [R, 9, expert_width]
  float* logits;          // [kMaxDecodeRows, vocab]
};

// Memory that outlives a step.
struct ModelState {
  std::vector<void*> kv_cache;  // an attention layer each: [n_kv_blocks, kv_block_bytes]
  float* slots = nullptr;       // [n_state_slots, state_slot_floats]
  uint32_t* token_counts;       // [kMaxLanes, vocab]
  int32_t* picked;              // [kMaxLanes]
};

// What a model of these limits needs, before anything is allocated.
struct MemoryPlan {
  uint64_t weight_bytes = 0;  // without the routed experts when those are streamed
  uint64_t expert_bytes = 0;  // the budget of streamed experts
  uint64_t kv_bytes = 0;
  uint64_t state_bytes = 0;
  uint64_t activation_bytes = 0;  // between ops
  uint64_t scratch_bytes = 0;     // inside ops
  uint64_t total_bytes() const {
    return weight_bytes + expert_bytes + kv_bytes + state_bytes + activation_bytes + scratch_bytes;
  }
};

// `expert_budget_bytes` as in LoadOptions: 0 loads all experts.
MemoryPlan plan_memory(const Backend& backend, const WeightSource& source, const StepLimits& limits,
                       uint64_t expert_budget_bytes = 0);

// What streaming experts may take: at least a layer's, at most all of them.
struct ExpertSizes {
  uint64_t layer_bytes = 0;
  uint64_t all_bytes = 0;
};
ExpertSizes expert_sizes(const Backend& backend, const WeightSource& source);

class Model final : public Executor {
 public:
  // Loads `source` into `backend` and allocates the state. Throws Error.
  Model(std::unique_ptr<Backend> backend, WeightSource& source, const StepLimits& limits,
        const LoadOptions& options);
  ~Model() override;

  const ShapeInfo& shape() const override { return backend_->shape(); }
  const StepLimits& limits() const override { return limits_; }
  StateTraits state_traits() const override;

  bool forward(const Step& step, const std::atomic<bool>* cancel) override;
  void pick(const PickBatch& batch) override;
  std::span<const PickResult> wait() override;
  void reset_lane(int lane, std::span<const int32_t> prompt) override;
  void copy_state(int to_slot, int from_slot) override;

  // The last forward's logits, [n_logit_rows, vocab]: for tests and verification. Waits.
  std::vector<float> read_logits();

 private:
  void allocate_activations();
  void allocate_state();

  std::unique_ptr<Backend> backend_;
  StepLimits limits_;
  Weights weights_;
  Activations activations_{};
  ModelState state_{};
  int n_logit_rows_ = 0;
  std::vector<PickResult> results_;
  // Device copies of the pick's host arrays.
  struct PickBuffers;
  std::unique_ptr<PickBuffers> pick_buffers_;
};

}  // namespace orfebre
