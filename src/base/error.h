// Errors that reach a person: a kind, which decides the HTTP status or the exit code, and one text.
// Thrown where the problem is found, caught in two places only: main() and the route wrapper.
// A text says where, what was expected, what was found and what to do; never prompt or reply text.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace orfebre {

enum class ErrorKind {
  kInvalidRequest,  // the caller's input is wrong: HTTP 400, exit 2
  kContextLength,   // the prompt does not fit the context: HTTP 400
  kNotFound,        // no such model, route or file: HTTP 404, exit 2
  kUnsupported,     // valid, but not something this engine does: HTTP 400, exit 2
  kUnauthorized,    // wrong or missing key: HTTP 401
  kOverloaded,      // too many requests are waiting: HTTP 429
  kUnavailable,     // the engine is going down: HTTP 503
  kBadCheckpoint,   // a model file is damaged or of another shape: exit 1
  kOutOfMemory,     // the plan does not fit the machine: exit 1
  kBackend,         // a device or kernel failed: HTTP 500, exit 1
  kInternal,        // a defect of this program: HTTP 500, exit 1
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

// Throws Error with a formatted text: fail(ErrorKind::kNotFound, "{}: no such file", path).
template <typename... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> text, Args&&... args) {
  throw Error(kind, fmt::format(text, std::forward<Args>(args)...));
}

// Prints the failed condition and aborts: for defects of this program, never for bad input.
[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace orfebre

// Always on; use outside hot loops.
#define ORFEBRE_CHECK(condition) \
  ((condition) ? void(0) : ::orfebre::check_failed(#condition, __FILE__, __LINE__))
