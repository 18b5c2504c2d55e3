// The body of POST /v1/chat/completions: refused with an answer of the 400s that quotes nothing of it, or a
// request whose every part the rest of the server accepts or refuses likewise.
//
// Input: the body.
#include "server/api/chat_request.h"
#include "base/python_json.h"
#include "server/api/api_error.h"
#include "support/refusal.h"
#include "text/reply_parser.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace orfebre::fuzz {
namespace {

constexpr int kVocab = 4096;

void check_sampling(const api::ChatRequest& request) {
  SamplingParams params = resolve_sampling(request.sampling, SamplingParams{});
  for (const auto& [id, value] : params.logit_bias) {
    ORFEBRE_CHECK(id >= 0);
    ORFEBRE_CHECK(value >= -100.0f && value <= 100.0f);
  }
  std::erase_if(params.logit_bias, [](const auto& bias) { return bias.first >= kVocab; });
  validate(params, kVocab);
}

void check_limits(const api::ChatRequest& request) {
  ORFEBRE_CHECK(!request.messages.empty());
  ORFEBRE_CHECK(request.max_tokens >= 0);
  ORFEBRE_CHECK(request.n_top_logprobs >= -1 && request.n_top_logprobs <= 20);
  ORFEBRE_CHECK(request.stop.size() <= 16);
  for (const std::string& stop : request.stop) {
    ORFEBRE_CHECK(!stop.empty());
  }
  for (const text::Message& message : request.messages) {
    ORFEBRE_CHECK(message.role == "assistant" || message.tool_calls.empty());
    for (const text::ToolCall& call : message.tool_calls) {
      ORFEBRE_CHECK(!call.name.empty());
      ORFEBRE_CHECK(parse_python_json(call.arguments_json, "arguments", true).is_object());
    }
  }
}

void read_and_check(std::string_view body) {
  const api::ChatRequest request = api::parse_chat_request(body);
  check_limits(request);
  check_sampling(request);
  const text::ToolSchemas schemas(request.tools);
  for (const std::string& tool : request.tools) {
    ORFEBRE_CHECK(parse_python_json(tool, "tool", true).is_object());
  }
  text::ChatOptions options;
  options.enable_thinking = request.thinking.enabled.value_or(true);
  options.preserve_thinking = request.preserve_thinking;
  ORFEBRE_CHECK(!text::render_chat(request.messages, request.tools, options).empty());
}

}  // namespace
}  // namespace orfebre::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orfebre;
  try {
    fuzz::read_and_check({reinterpret_cast<const char*>(data), size});
  } catch (const Error& error) {
    fuzz::check_quotes_nothing(error, {ErrorKind::kInvalidRequest, ErrorKind::kUnsupported});
    ORFEBRE_CHECK(api::http_status(error.kind()) == 400);
    ORFEBRE_CHECK(parse_python_json(api::error_body(error), "error").is_object());
  }
  return 0;
}
