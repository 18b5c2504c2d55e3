// The bodies of the APIs besides OpenAI's chats: refused with an answer of the 400s that quotes nothing of
// them, or a chat that renders or is refused likewise.
//
// Input: a byte that chooses the API, then the body.
#include "base/python_json.h"
#include "server/api/api_error.h"
#include "server/routes/completions/completion_request.h"
#include "server/routes/messages/messages_request.h"
#include "server/routes/ollama/ollama_request.h"
#include "server/routes/responses/responses_request.h"
#include "support/refusal.h"
#include "text/reply_parser.h"

#include <cstdint>
#include <string_view>

namespace orfebre::fuzz {
namespace {

void check_chat(const api::ChatRequest& chat) {
  ORFEBRE_CHECK(chat.max_tokens >= 0);
  ORFEBRE_CHECK(chat.stop.size() <= 16);
  ORFEBRE_CHECK(!chat.thinking.budget_tokens || *chat.thinking.budget_tokens >= 0);
  const text::ToolSchemas schemas(chat.tools);
  if (!chat.messages.empty()) {
    ORFEBRE_CHECK(!text::render_chat(chat.messages, chat.tools, {}).empty());
  }
}

void check_completion(const api::CompletionRequest& request) {
  ORFEBRE_CHECK(!request.prompts.empty());
  ORFEBRE_CHECK(request.prompts.size() * static_cast<size_t>(request.n_replies) <= api::kMaxChoices);
  ORFEBRE_CHECK(request.max_tokens >= 0 && request.n_top_logprobs >= -1 && request.n_top_logprobs <= 20);
}

void read_and_check(uint8_t choice, std::string_view body) {
  switch (choice % 5) {
    case 0: check_chat(api::parse_messages_request(body)); break;
    case 1: {
      const api::ResponsesRequest request = api::parse_responses_request(body);
      check_chat(request.chat);
      for (const std::string& tool : request.flat_tools) {
        ORFEBRE_CHECK(parse_python_json(tool, "tool").is_object());
      }
      break;
    }
    case 2: check_chat(api::parse_ollama_chat(body)); break;
    case 3: check_chat(api::parse_ollama_generate(body)); break;
    default: check_completion(api::parse_completion_request(body)); break;
  }
}

}  // namespace
}  // namespace orfebre::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orfebre;
  if (size == 0) {
    return 0;
  }
  try {
    fuzz::read_and_check(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  } catch (const Error& error) {
    fuzz::check_quotes_nothing(error, {ErrorKind::kInvalidRequest, ErrorKind::kUnsupported});
    ORFEBRE_CHECK(api::http_status(error.kind()) == 400);
    for (const auto style :
         {api::ErrorStyle::kOpenAi, api::ErrorStyle::kAnthropic, api::ErrorStyle::kOllama}) {
      ORFEBRE_CHECK(parse_python_json(api::error_body(error, style), "error").is_object());
    }
  }
  return 0;
}
