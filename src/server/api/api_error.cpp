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
    default: return "internal_error";
  }
}

std::string render(int status, std::string_view message, std::string_view param, std::string_view code) {
  JsonWriter json;
  json.begin_object().key("error").begin_object().key("message").string(message);
  json.key("type").string(status >= 500 ? "server_error" : "invalid_request_error");
  json.key("param").string_or_null(param).key("code").string_or_null(code);
  return json.end_object().end_object().take();
}

}  // namespace

void fail_context(int64_t prompt_tokens, int64_t context_tokens) {
  throw ApiError(
      ErrorKind::kContextLength, "messages",
      fmt::format("This model's maximum context length is {} tokens, but the prompt has {} tokens: "
                  "the request exceeds the available context size. Shorten the messages, or start "
                  "the server with a larger --context.",
                  context_tokens, prompt_tokens));
}

int http_status(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidRequest:
    case ErrorKind::kContextLength:
    case ErrorKind::kUnsupported: return 400;
    case ErrorKind::kUnauthorized: return 401;
    case ErrorKind::kNotFound: return 404;
    case ErrorKind::kOverloaded: return 503;
    default: return 500;
  }
}

std::string error_body(const Error& error) {
  const auto* detailed = dynamic_cast<const ApiError*>(&error);
  const std::string_view own_code = detailed ? std::string_view(detailed->code()) : std::string_view();
  return render(http_status(error.kind()), error.what(),
                detailed ? std::string_view(detailed->param()) : std::string_view(),
                own_code.empty() ? default_code(error.kind()) : own_code);
}

std::string error_body(int status, std::string_view message, std::string_view code) {
  return render(status, message, {}, code);
}

}  // namespace orfebre::api
