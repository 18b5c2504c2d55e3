// How a request wants its tokens chosen, and the model's recommended settings. Only data and checks: the
// choosing itself is the backend's `pick`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace orfebre {

inline constexpr size_t kMaxLogitBiases = 300;  // as the OpenAI API

struct SamplingParams {
  float temperature = 1.0f;         // 0: greedy
  int top_k = 0;                    // 0: all
  float top_p = 1.0f;               // (0, 1]
  float min_p = 0.0f;               // [0, 1)
  float repetition_penalty = 1.0f;  // > 0, over prompt and reply
  float presence_penalty = 0.0f;    // [-2, 2], over the reply
  float frequency_penalty = 0.0f;   // [-2, 2], over the reply
  uint64_t seed = 0;
  std::vector<std::pair<int32_t, float>> logit_bias;  // (id, value in [-100, 100]), at most kMaxLogitBiases
};

// Throws Error(kInvalidRequest) naming the first field out of range, what it may be and what it is.
void validate(const SamplingParams& params, int n_vocab);

}  // namespace orfebre
