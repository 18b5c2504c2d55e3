// The body of POST /v1/responses (OpenAI's newer API) as a ChatRequest.
//
// Read: instructions; input as a text or items (messages, function_call, function_call_output, reasoning),
// tools of type function, reasoning.effort, max_output_tokens, parallel_tool_calls, and the sampling fields
// of chats. Ignored: tools and items of other kinds (web_search, local_shell, ...), store, include, metadata
// (but repeated), prompt_cache_key. Refused: previous_response_id, conversation and background, because
// nothing is stored here: the client sends the whole input.
#pragma once

#include "server/api/chat_request.h"

#include <string>
#include <string_view>
#include <vector>

namespace orfebre::api {

// Fields of the request that the response object repeats: JSON as it was sent, or what their absence means.
struct EchoedFields {
  std::string instructions = "null";
  std::string metadata = "{}";
  std::string tool_choice = R"("auto")";
  std::string text_format = R"({"type":"text"})";
  std::string reasoning_effort = "null";
  std::string reasoning_summary = "null";
  std::string user = "null";
};

struct ResponsesRequest {
  ChatRequest chat;
  std::vector<std::string> flat_tools;  // the functions as this API declares them, for the response object
  EchoedFields echoed;
  bool wants_summary = false;  // reasoning.summary: the thinking also as a summary, which some clients show
};

// Throws ApiError with the param at fault.
ResponsesRequest parse_responses_request(std::string_view body);

}  // namespace orfebre::api
