// The fuzzer's bytes as decisions. When they are used up every answer is 0 or empty, so each input has a
// meaning and a longer one only adds to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace orfebre::fuzz {

class ByteSource {
 public:
  ByteSource(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  bool empty() const { return rest_.empty(); }
  uint8_t byte();
  bool flag() { return (byte() & 1) != 0; }
  // From 0 to limit - 1; limit is at most 256.
  size_t below(size_t limit) { return byte() % limit; }
  std::string_view take(size_t n_bytes);  // fewer at the end
  std::string_view take_rest() { return take(rest_.size()); }

  // Up to six pieces, each one of `words` or some bytes as they come, possibly ill-formed.
  std::string text(std::span<const std::string_view> words);

 private:
  std::string_view rest_;
};

}  // namespace orfebre::fuzz
