// A request as the engine sees it: token ids in, token events out. No strings, no JSON.
#pragma once

#include "base/error.h"
#include "engine/token_policy.h"
#include "sample/sampling_params.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace orfebre {

struct Request {
  std::vector<int32_t> prompt;  // at least one id, fewer than the context
  SamplingParams sampling;
  int max_tokens = 0;                   // 0: until the end or the context
  std::vector<int32_t> stop_ids;        // end-of-turn ids; the stopping token is not part of the reply
  int n_top_logprobs = -1;              // -1: no logprobs wanted; 0..20
  std::unique_ptr<TokenPolicy> policy;  // may be null

  // For the prefix cache. `snapshot_at`: ascending positions at which a later prompt may part from this one:
  // ends of messages, the first that of system message and tools. Only requests of one namespace share
  // prefixes, so that nobody learns from the time of a reply what others have asked.
  std::vector<int> snapshot_at;
  uint64_t cache_namespace = 0;
};

enum class FinishReason {
  kStop,       // an end-of-turn id, or the policy said stop
  kLength,     // max_tokens or the context
  kCancelled,  // the client left
  kError,      // see TokenEvent::error
};

struct TokenLogprobs {
  float logprob = 0;
  std::vector<std::pair<int32_t, float>> top;  // descending
};

struct Usage {
  int prompt_tokens = 0;
  int cached_tokens = 0;  // of the prompt, taken from the prefix cache
  int reply_tokens = 0;
  double queue_seconds = 0;
  double prefill_seconds = 0;
  double decode_seconds = 0;
};

// One of: a token (id >= 0), progress (prefilled_tokens of the prompt), or the end (finish set).
struct TokenEvent {
  int32_t id = -1;
  std::optional<TokenLogprobs> logprobs;
  int prefilled_tokens = 0;
  std::optional<FinishReason> finish;
  std::optional<Error> error;  // with FinishReason::kError
  Usage usage;                 // with finish
};

}  // namespace orfebre
