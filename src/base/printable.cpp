#include "base/printable.h"

namespace orfebre {
namespace {

constexpr size_t kMaxBytes = 120;

bool is_continuation(char byte) {
  return (byte & 0xC0) == 0x80;
}

// The bytes of the control character at the start of `text`; 0 when another one is there.
size_t control_bytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x20 || first == 0x7F) {
    return 1;
  }
  const bool is_c1 = text.size() > 1 && first == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0;
  return is_c1 ? 2 : 0;
}

}  // namespace

std::string printable(std::string_view text) {
  size_t end = text.size();
  if (end > kMaxBytes) {
    end = kMaxBytes;
    while (end > 0 && is_continuation(text[end])) {
      --end;
    }
  }
  std::string result;
  for (size_t at = 0; at < end;) {
    const size_t n_bytes = control_bytes(text.substr(at, end - at));
    result += n_bytes > 0 ? '?' : text[at];
    at += n_bytes > 0 ? n_bytes : 1;
  }
  return end < text.size() ? result + "..." : result;
}

}  // namespace orfebre
