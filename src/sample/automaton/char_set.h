// Sets of Unicode characters as sorted ranges. The universe is what UTF-8 can write: 0 to 10FFFF without the
// surrogates.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace orfebre::automaton {

inline constexpr uint32_t kLastChar = 0x10FFFF;

struct CharRange {
  uint32_t low, high;  // both inclusive
  bool operator==(const CharRange&) const = default;
};

class CharSet {
 public:
  CharSet() = default;
  CharSet(std::initializer_list<CharRange> ranges);
  static const CharSet& any();

  void add(uint32_t low, uint32_t high);
  void add(const CharSet& other);
  CharSet complement() const;

  // Sorted, disjoint, not adjacent.
  const std::vector<CharRange>& ranges() const& { return ranges_; }
  std::vector<CharRange> ranges() && = delete;  // a loop over them would outlive the set

 private:
  void normalise();
  std::vector<CharRange> ranges_;
};

// The characters of a well-formed UTF-8 text; ill-formed bytes become U+FFFD.
std::vector<uint32_t> decode_utf8(std::string_view text);

}  // namespace orfebre::automaton
