#include "server/api/api_error.h"

#include "server/api/json_writer.h"

namespace orfebre::api {
namespace {

std::string_view default_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidRequest: return {};
    case ErrorKind::kContextLength: return "context_length_exceeded";
    case ErrorKind::kNotFound: return "not_found";
    case ErrorKind::kUnsupported: return "unsupported";
    case ErrorKind::kUnauthorized: return "invalid_api_key";
    case ErrorKind::kOverloaded: return "overloaded";
    case ErrorKind::kUnavailable: return "unavailable";
    default: return "internal_error";
  }
}

struct ErrorText {
  int status;
  std::string_view message;
  std::string_view param;
  std::string_view code;
};

std::string_view openai_type(int status) {
  if (status == 429) {
    return "rate_limit_error";
  }
  return status >= 500 ? "server_error" : "invalid_request_error";
}

std::string_view anthropic_type(int status) {
  switch (status) {
    case 401: return "authentication_error";
    case 403: return "permission_error";
    case 404: return "not_found_error";
    case 413: return "request_too_large";
    case 429: return "rate_limit_error";
    case 503: return "overloaded_error";
    default: return status >= 500 ? "api_error" : "invalid_request_error";
  }
}

std::string render(const ErrorText& text, ErrorStyle style) {
  JsonWriter json;
  json.begin_object();
  if (style == ErrorStyle::kOllama) {
    return json.key("error").string(text.message).end_object().take();
  }
  if (style == ErrorStyle::kAnthropic) {
    json.key("type").string("error").key("error").begin_object();
    json.key("type").string(anthropic_type(text.status)).key("message").string(text.message);
    return json.end_object().end_object().take();
  }
  json.key("error").begin_object().key("message").string(text.message);
  json.key("type").string(openai_type(text.status));
  json.key("param").string_or_null(text.param).key("code").string_or_null(text.code);
  return json.end_object().end_object().take();
}

}  // namespace

void fail_context(int64_t prompt_tokens, int64_t context_tokens) {
  throw ApiError(
      ErrorKind::kContextLength, "messages",
      fmt::format("prompt is too long: {1} tokens > {0} maximum. This model's maximum context length is {0} "
                  "tokens, but the prompt has {1} tokens: the request exceeds the available context size. "
                  "Shorten the messages, or start the server with a larger --context.",
                  context_tokens, prompt_tokens));
}

int http_status(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidRequest:
    case ErrorKind::kContextLength:
    case ErrorKind::kUnsupported: return 400;
    case ErrorKind::kUnauthorized: return 401;
    case ErrorKind::kNotFound: return 404;
    case ErrorKind::kOverloaded: return 429;
    case ErrorKind::kUnavailable: return 503;
    default: return 500;
  }
}

std::string error_body(const Error& error, ErrorStyle style) {
  const auto* detailed = dynamic_cast<const ApiError*>(&error);
  const std::string_view own_code = detailed ? std::string_view(detailed->code()) : std::string_view();
  return render({http_status(error.kind()), error.what(),
                 detailed ? std::string_view(detailed->param()) : std::string_view(),
                 own_code.empty() ? default_code(error.kind()) : own_code},
                style);
}

std::string error_body(int status, std::string_view message, std::string_view code, ErrorStyle style) {
  return render({status, message, {}, code}, style);
}

}  // namespace orfebre::api
