// A chat as a struct, and how the body of POST /v1/chat/completions becomes one. The other APIs' chats are
// read into the same struct. No JSON goes further than this.
//
// Accepted beyond OpenAI's own fields: top_k, min_p, repetition_penalty (or repeat_penalty),
// preserve_thinking, loop_guard, thinking.h's fields, reasoning_content (or reasoning) of assistant messages,
// max_tokens -1 for no limit. Fields that change nothing here (user, store, metadata,
// service_tier, ...) are ignored; so are tools of kinds other than "function".
// Refused as unsupported, because ignoring them would answer another question: functions, audio.
#pragma once

#include "server/api/answer_request.h"
#include "server/api/sampling_request.h"
#include "server/api/thinking.h"
#include "text/chat_template.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orfebre::api {

struct ChatRequest : ReplyRequest {
  std::string model;  // as sent; any name is served by the one model
  std::vector<text::Message> messages;
  std::vector<std::string> tools;  // raw JSON, the client's key order; empty with tool_choice "none"
  AnswerRequest answer;
  ThinkingFields thinking;
  bool preserve_thinking = false;
};

// Throws Error, mostly ApiError with the param at fault.
ChatRequest parse_chat_request(std::string_view body);

}  // namespace orfebre::api
