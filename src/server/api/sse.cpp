#include "server/api/sse.h"

#include <fmt/format.h>

#include <random>

namespace orfebre::api {

std::string sse_event(std::string_view json) {
  return fmt::format("data: {}\n\n", json);
}

std::string sse_named_event(std::string_view name, std::string_view json) {
  return fmt::format("event: {}\ndata: {}\n\n", name, json);
}

std::string sse_error(std::string_view error_body) {
  return sse_named_event("error", error_body);
}

std::string sse_waiting(int prefilled_tokens, int prompt_tokens) {
  return fmt::format(": waiting: {} of {} prompt tokens read\n\n", prefilled_tokens, prompt_tokens);
}

std::string random_id(std::string_view prefix) {
  static constexpr std::string_view kAlphabet =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  thread_local std::mt19937_64 generator{(static_cast<uint64_t>(std::random_device{}()) << 32) |
                                         std::random_device{}()};
  std::uniform_int_distribution<size_t> letter(0, kAlphabet.size() - 1);
  std::string id(prefix);
  for (int i = 0; i < 24; ++i) {
    id += kAlphabet[letter(generator)];
  }
  return id;
}

}  // namespace orfebre::api
