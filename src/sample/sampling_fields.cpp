#include "sample/sampling_fields.h"

#include <algorithm>
#include <random>

namespace orfebre {
namespace {

uint64_t random_seed() {
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32) | device();
}

}  // namespace

SamplingParams resolve_sampling(const SamplingFields& fields, const SamplingParams& defaults) {
  SamplingParams params = defaults;
  params.temperature = fields.temperature.value_or(defaults.temperature);
  if (params.temperature == 0.0f) {
    params.presence_penalty = 0.0f;
    params.frequency_penalty = 0.0f;
    params.repetition_penalty = 1.0f;
  }
  params.top_k = fields.top_k.value_or(params.top_k);
  params.top_p = std::max(fields.top_p.value_or(params.top_p), 1e-6f);
  params.min_p = std::min(fields.min_p.value_or(params.min_p), 0.999999f);
  params.presence_penalty = fields.presence_penalty.value_or(params.presence_penalty);
  params.frequency_penalty = fields.frequency_penalty.value_or(params.frequency_penalty);
  params.repetition_penalty = fields.repetition_penalty.value_or(params.repetition_penalty);
  params.seed = fields.seed ? *fields.seed : random_seed();
  params.logit_bias = fields.logit_bias;
  return params;
}

}  // namespace orfebre
