// The model's weights as the forward pass names them, in the backend's own memory and layout.
#pragma once

#include "backend/backend.h"
#include "spec/weight_source.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

namespace orfebre {

struct GdnWeights {
  Matrix qkv, z, a, b, out;
  const float* conv;     // [conv_channels, 4]
  const float* a_log;    // [value_heads]
  const float* dt_bias;  // [value_heads]
  const float* norm;     // [128]
};

struct AttnWeights {
  Matrix q_gate, k, v, out;
  const float* q_norm;  // [256]
  const float* k_norm;  // [256]
};

struct MoeWeights {
  Matrix router, shared_gate;
  Matrix shared_up_gate, shared_up, shared_down;
  Matrix expert_gate, expert_up, expert_down;
};

struct LayerWeights {
  const float* input_norm;  // [hidden]
  const float* post_norm;   // [hidden]
  GdnWeights gdn;           // unused in an attention layer
  AttnWeights attn;         // unused in a DeltaNet layer
  MoeWeights moe;
};

struct Weights {
  Matrix embedding;
  Matrix head;
  const float* final_norm;  // [hidden]
  std::vector<LayerWeights> layers;
};

// Called with (bytes done, bytes in all) from loader threads, one at a time.
using LoadProgress = std::function<void(uint64_t, uint64_t)>;

struct LoadOptions {
  int threads = 0;                   // 0: the machine's
  uint64_t expert_budget_bytes = 0;  // over 0: experts stay in the source, see Backend::stream_experts
  LoadProgress progress;             // may be empty
  const std::atomic<bool>* cancel = nullptr;  // set: loading stops with Error(kInternal)
};

// Pulls every tensor from `source`, in parallel, and hands it to `backend`. The first error is rethrown
// after all loader threads have stopped.
Weights load_weights(Backend& backend, WeightSource& source, const LoadOptions& options);

}  // namespace orfebre
