// What the model's makers recommend, for requests that do not say. Which set a request gets is the server's
// business: it knows whether thinking is on.
#pragma once

#include "sample/sampling_params.h"

namespace orfebre {

// The model card's table for Qwen3.6-35B-A3B, with seed 0 and no bias.
enum class SamplingSet {
  kThinking,        // general use
  kThinkingCoding,  // precise coding
  kAnswer,          // thinking off
};

SamplingParams recommended_sampling(SamplingSet set);

}  // namespace orfebre
