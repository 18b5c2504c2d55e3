#include "support/byte_source.h"

#include <algorithm>

namespace orfebre::fuzz {

uint8_t ByteSource::byte() {
  const std::string_view one = take(1);
  return one.empty() ? uint8_t{0} : static_cast<uint8_t>(one[0]);
}

std::string_view ByteSource::take(size_t n_bytes) {
  const std::string_view taken = rest_.substr(0, std::min(n_bytes, rest_.size()));
  rest_.remove_prefix(taken.size());
  return taken;
}

std::string ByteSource::text(std::span<const std::string_view> words) {
  constexpr size_t kMaxPieces = 7, kMaxRawBytes = 24;
  std::string text;
  for (size_t left = below(kMaxPieces); left > 0; --left) {
    const size_t choice = byte();
    text += choice < 128 ? words[choice % words.size()] : take(choice % kMaxRawBytes);
  }
  return text;
}

}  // namespace orfebre::fuzz
