// Errors in the shape that each API's clients read, and the status that goes with each.
#pragma once

#include "base/error.h"

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

namespace orfebre::api {

// An error of the request's content, with the place of the fault in the request, as clients index it
// ("messages[2].content"), and a code of its own where clients look for one.
class ApiError : public Error {
 public:
  ApiError(ErrorKind kind, std::string param, const std::string& text, std::string code = {})
      : Error(kind, text), param_(std::move(param)), code_(std::move(code)) {}
  const std::string& param() const { return param_; }
  const std::string& code() const { return code_; }

 private:
  std::string param_;
  std::string code_;
};

// Throws ApiError(kInvalidRequest); the text begins with the param.
template <typename... Args>
[[noreturn]] void fail_param(std::string_view param, fmt::format_string<Args...> text, Args&&... args) {
  throw ApiError(ErrorKind::kInvalidRequest, std::string(param),
                 fmt::format("{}: {}", param, fmt::format(text, std::forward<Args>(args)...)));
}

// Likewise with kUnsupported: the request is right, but this server does not do it.
template <typename... Args>
[[noreturn]] void fail_unsupported(std::string_view param, fmt::format_string<Args...> text, Args&&... args) {
  throw ApiError(ErrorKind::kUnsupported, std::string(param),
                 fmt::format("{}: {}", param, fmt::format(text, std::forward<Args>(args)...)));
}

// The prompt does not fit. The words are those that clients of all kinds look for, to shorten the
// conversation.
[[noreturn]] void fail_context(int64_t prompt_tokens, int64_t context_tokens);

int http_status(ErrorKind kind);

// How a client expects its errors.
enum class ErrorStyle {
  kOpenAi,     // {"error":{"message","type","param","code"}}
  kAnthropic,  // {"type":"error","error":{"type","message"}}
  kOllama,     // {"error":"message"}
};

// The whole body of the answer.
std::string error_body(const Error& error, ErrorStyle style = ErrorStyle::kOpenAi);
std::string error_body(int status, std::string_view message, std::string_view code,
                       ErrorStyle style = ErrorStyle::kOpenAi);

}  // namespace orfebre::api
