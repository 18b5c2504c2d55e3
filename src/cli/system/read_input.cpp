#include "cli/system/read_input.h"

#include "base/error.h"

#include <array>
#include <cstdio>

namespace orfebre::cli {
namespace {

constexpr size_t kMaxInputBytes = 64'000'000;

}  // namespace

std::string read_argument(const std::string& argument) {
  if (argument != "-") {
    return argument;
  }
  std::string text;
  std::array<char, 65536> chunk;
  while (const size_t n_bytes = std::fread(chunk.data(), 1, chunk.size(), stdin)) {
    text.append(chunk.data(), n_bytes);
    if (text.size() > kMaxInputBytes) {
      fail(ErrorKind::kInvalidRequest, "standard input holds more than {} MB", kMaxInputBytes / 1'000'000);
    }
  }
  return text;
}

}  // namespace orfebre::cli
