// The body of POST /v1/completions as a struct: text goes on where the prompt ends, without a chat around it.
#pragma once

#include "server/api/sampling_request.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace orfebre::api {

struct CompletionRequest : ReplyRequest {
  using Prompt = std::variant<std::string, std::vector<int32_t>>;  // text, or token ids

  std::vector<Prompt> prompts;        // at least one; each gets n_replies choices
  std::optional<std::string> suffix;  // fill in the middle, between the prompt and this
  bool echo = false;                  // the prompt's text stands before the reply's
};

inline constexpr size_t kMaxChoices = 64;  // prompts times n

// Throws ApiError with the param at fault.
CompletionRequest parse_completion_request(std::string_view body);

}  // namespace orfebre::api
