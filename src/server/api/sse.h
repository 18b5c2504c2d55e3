// Server-sent events, and the random names that replies and calls get.
#pragma once

#include <string>
#include <string_view>

namespace orfebre::api {

std::string sse_event(std::string_view json);
// An event with a name, as Anthropic's messages and OpenAI's responses have.
std::string sse_named_event(std::string_view name, std::string_view json);
// What the openai clients turn into an APIError; the stream ends after it, without [DONE].
std::string sse_error(std::string_view error_body);
// A sign of life, as a comment, which clients ignore: so much of the prompt has been read.
std::string sse_waiting(int prefilled_tokens, int prompt_tokens);
inline constexpr std::string_view kSseDone = "data: [DONE]\n\n";

// "PREFIX" and 24 random letters and digits.
std::string random_id(std::string_view prefix);

}  // namespace orfebre::api
