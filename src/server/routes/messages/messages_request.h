// The body of POST /v1/messages (Anthropic's API) as a ChatRequest.
//
// Read: system and contents as a string or blocks (text, thinking, tool_use, tool_result); role system
// anywhere in the list; tools with an input_schema; stop_sequences; thinking and output_config.effort.
// Ignored: what changes nothing here (cache_control, metadata, redacted thinking, betas), tools that run on
// the service's own machines, and the billing line with which some clients begin their system text, which
// changes with every request and would spoil the prompt cache. Images become a placeholder in tool results
// and are refused elsewhere. Without "thinking" there is none: clients that do not ask for it do not expect
// blocks of it.
#pragma once

#include "server/api/chat_request.h"

#include <string_view>

namespace orfebre::api {

// Throws ApiError with the param at fault.
ChatRequest parse_messages_request(std::string_view body);

}  // namespace orfebre::api
