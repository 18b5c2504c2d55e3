// The fields about sampling and length that several APIs share.
#pragma once

#include "sample/sampling_fields.h"
#include "server/api/request_reader.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orfebre::api {

// What requests for a chat and for a text have in common.
struct ReplyRequest {
  bool stream = false;
  bool include_usage = false;
  int max_tokens = 0;  // 0: no limit
  SamplingFields sampling;
  std::vector<std::string> stop;
  int n_top_logprobs = -1;  // -1: none wanted
  int n_replies = 1;
  std::optional<bool> loop_guard;  // absent: on unless the temperature is 0
};

inline constexpr int kMaxReplies = 8;       // "n"
inline constexpr int kMaxTopLogprobs = 20;  // alternatives of a token

// temperature, top_p, top_k, min_p, presence_penalty, frequency_penalty, repetition_penalty (or
// repeat_penalty), seed, logit_bias. Throws ApiError for a value of another kind or out of range.
SamplingFields read_sampling(const ObjectReader& body);

// The first of `names` that is there: at least 1, or -1 for no limit. 0 for no limit or none of them. More
// than an int holds is more than any context.
int read_max_tokens(const ObjectReader& body, std::initializer_list<const char*> names);

// stream_options.include_usage.
bool read_include_usage(const ObjectReader& body);

// A string or up to 16; empty ones are dropped.
std::vector<std::string> read_stop(const ObjectReader& body, std::string_view name);

}  // namespace orfebre::api
