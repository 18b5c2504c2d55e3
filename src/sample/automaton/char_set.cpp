#include "sample/automaton/char_set.h"

#include <algorithm>

namespace orfebre::automaton {
namespace {

constexpr uint32_t kFirstSurrogate = 0xD800, kLastSurrogate = 0xDFFF;

}  // namespace

CharSet::CharSet(std::initializer_list<CharRange> ranges) : ranges_(ranges) {
  normalise();
}

const CharSet& CharSet::any() {
  static const CharSet set{{0, kLastChar}};
  return set;
}

void CharSet::add(uint32_t low, uint32_t high) {
  ranges_.push_back({low, high});
  normalise();
}

void CharSet::add(const CharSet& other) {
  ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end());
  normalise();
}

void CharSet::normalise() {
  std::vector<CharRange> parts;
  for (const CharRange& range : ranges_) {
    const uint32_t high = std::min(range.high, kLastChar);
    if (range.low < kFirstSurrogate && range.low <= high) {
      parts.push_back({range.low, std::min(high, kFirstSurrogate - 1)});
    }
    if (high > kLastSurrogate) {
      parts.push_back({std::max(range.low, kLastSurrogate + 1), high});
    }
  }
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.low < b.low; });
  ranges_.clear();
  for (const CharRange& part : parts) {
    if (!ranges_.empty() && part.low <= ranges_.back().high + 1) {
      ranges_.back().high = std::max(ranges_.back().high, part.high);
    } else {
      ranges_.push_back(part);
    }
  }
}

CharSet CharSet::complement() const {
  CharSet result;
  uint32_t next = 0;
  for (const CharRange& range : ranges_) {
    if (range.low > next) {
      result.ranges_.push_back({next, range.low - 1});
    }
    next = range.high + 1;
  }
  if (next <= kLastChar) {
    result.ranges_.push_back({next, kLastChar});
  }
  result.normalise();
  return result;
}

std::vector<uint32_t> decode_utf8(std::string_view text) {
  std::vector<uint32_t> chars;
  for (size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const int more = lead < 0x80 ? 0 : lead >= 0xC2 && lead < 0xE0 ? 1 : lead >= 0xE0 && lead < 0xF0 ? 2 : 3;
    uint32_t value = more == 0 ? lead : lead & (0x3Fu >> more);
    bool whole = lead < 0x80 || (lead >= 0xC2 && lead <= 0xF4);
    size_t end = at + 1;
    for (int i = 0; whole && i < more; ++i, ++end) {
      whole = end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80;
      if (!whole) {
        break;
      }
      value = value << 6 | (static_cast<unsigned char>(text[end]) & 0x3F);
    }
    chars.push_back(whole ? value : 0xFFFD);
    at = end;
  }
  return chars;
}

}  // namespace orfebre::automaton
