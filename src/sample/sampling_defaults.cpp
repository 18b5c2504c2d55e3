#include "sample/sampling_defaults.h"

namespace orfebre {

SamplingParams recommended_sampling(SamplingSet set) {
  SamplingParams params;
  params.top_k = 20;
  switch (set) {
    case SamplingSet::kThinking:
      params.temperature = 1.0f;
      params.top_p = 0.95f;
      params.presence_penalty = 1.5f;
      break;
    case SamplingSet::kThinkingCoding:
      params.temperature = 0.6f;
      params.top_p = 0.95f;
      break;
    case SamplingSet::kAnswer:
      params.temperature = 0.7f;
      params.top_p = 0.80f;
      params.presence_penalty = 1.5f;
      break;
  }
  return params;
}

}  // namespace orfebre
