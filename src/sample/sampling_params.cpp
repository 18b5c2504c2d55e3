#include "sample/sampling_params.h"

#include "base/error.h"

namespace orfebre {
namespace {

// Written so that a NaN is refused: it fails every comparison.
template <class Number>
void require(bool inside, const char* field, const char* range, Number found) {
  if (!inside) {
    fail(ErrorKind::kInvalidRequest, "{} must be {}, found {}", field, range, found);
  }
}

}  // namespace

void validate(const SamplingParams& p, int n_vocab) {
  require(p.temperature >= 0.0f && p.temperature <= 100.0f, "temperature", "between 0 (greedy) and 100",
          p.temperature);
  require(p.top_k >= 0, "top_k", "0 (all) or more", p.top_k);
  require(p.top_p > 0.0f && p.top_p <= 1.0f, "top_p", "above 0 and at most 1", p.top_p);
  require(p.min_p >= 0.0f && p.min_p < 1.0f, "min_p", "at least 0 and below 1", p.min_p);
  require(p.repetition_penalty > 0.0f && p.repetition_penalty <= 100.0f, "repetition_penalty",
          "above 0 and at most 100", p.repetition_penalty);
  require(p.presence_penalty >= -2.0f && p.presence_penalty <= 2.0f, "presence_penalty", "between -2 and 2",
          p.presence_penalty);
  require(p.frequency_penalty >= -2.0f && p.frequency_penalty <= 2.0f, "frequency_penalty",
          "between -2 and 2", p.frequency_penalty);
  require(p.logit_bias.size() <= kMaxLogitBiases, "logit_bias", "at most 300 entries", p.logit_bias.size());
  for (const auto& [id, value] : p.logit_bias) {
    require(id >= 0 && id < n_vocab, "logit_bias", "keyed by token ids of the vocabulary", id);
    require(value >= -100.0f && value <= 100.0f, "logit_bias", "values between -100 and 100", value);
  }
}

}  // namespace orfebre
