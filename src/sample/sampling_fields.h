// What somebody asks for about sampling, and how the rest is filled in. One rule for the server and the
// command line.
#pragma once

#include "sample/sampling_params.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace orfebre {

// What was said; what was left out is the model's to fill in.
struct SamplingFields {
  std::optional<float> temperature, top_p, min_p;
  std::optional<float> repetition_penalty, presence_penalty, frequency_penalty;
  std::optional<int> top_k;
  std::optional<uint64_t> seed;
  std::vector<std::pair<int32_t, float>> logit_bias;
};

// `fields` over `defaults`. Without a seed a random one is drawn. With temperature 0, penalties that were
// left out are off: greedy then means the model's own first choice. top_p 0 and min_p 1, which leave the
// likeliest token alone, become the nearest values that SamplingParams has.
SamplingParams resolve_sampling(const SamplingFields& fields, const SamplingParams& defaults);

}  // namespace orfebre
