// The bodies of Ollama's POST /api/chat and /api/generate as a ChatRequest.
//
// Read: messages (with thinking, tool_calls, images), tools, think, stream (on unless it says false), and of
// options: temperature, top_p, top_k, min_p, repeat_penalty, presence_penalty, frequency_penalty, seed, stop,
// num_predict. Ignored: keep_alive, num_ctx and other options. `generate` is a chat of its system text and
// one user message.
#pragma once

#include "server/api/chat_request.h"

#include <string_view>

namespace orfebre::api {

// Throws ApiError with the param at fault. A chat without messages, or a prompt without text, asks whether
// the model is loaded: `messages` is then empty.
ChatRequest parse_ollama_chat(std::string_view body);
ChatRequest parse_ollama_generate(std::string_view body);

}  // namespace orfebre::api
