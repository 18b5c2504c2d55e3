// The body of POST /v1/chat/completions as a struct. No JSON goes further than this.
//
// Accepted beyond OpenAI's own fields: top_k, min_p, repetition_penalty (or repeat_penalty),
// chat_template_kwargs, enable_thinking, preserve_thinking, reasoning_content (or reasoning) of assistant
// messages, max_tokens -1 for no limit. Fields that change nothing here (user, store, metadata,
// service_tier, parallel_tool_calls, ...) are ignored; so are tools of kinds other than "function".
// Refused as unsupported, because ignoring them would answer another question: n above 1, functions, audio.
#pragma once

#include "sample/sampling_params.h"
#include "server/api/answer_request.h"
#include "text/chat_template.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orfebre::api {

// What the client says about sampling; what it leaves out is the server's to fill in.
struct SamplingFields {
  std::optional<float> temperature, top_p, min_p;
  std::optional<float> repetition_penalty, presence_penalty, frequency_penalty;
  std::optional<int> top_k;
  std::optional<uint64_t> seed;
  std::vector<std::pair<int32_t, float>> logit_bias;
};

struct ChatRequest {
  std::string model;  // as sent; any name is served by the one model
  std::vector<text::Message> messages;
  std::vector<std::string> tools;  // raw JSON, the client's key order; empty with tool_choice "none"
  bool stream = false;
  bool include_usage = false;
  int max_tokens = 0;  // 0: no limit
  SamplingFields sampling;
  std::vector<std::string> stop;
  int n_top_logprobs = -1;  // -1: none wanted
  AnswerRequest answer;
  std::optional<bool> enable_thinking;
  bool preserve_thinking = false;
};

// Throws Error, mostly ApiError with the param at fault.
ChatRequest parse_chat_request(std::string_view body);

// The client's settings over `defaults`. Without a seed a random one is drawn. With temperature 0, penalties
// that the client left out are off: greedy then means the model's own first choice.
SamplingParams resolve_sampling(const SamplingFields& fields, const SamplingParams& defaults);

}  // namespace orfebre::api
