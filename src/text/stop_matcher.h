// Finds the client's `stop` strings in streamed text, across any chunk borders.
// Owns the held-back text. Works on bytes: both sides are UTF-8, so a match never splits a character.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orfebre::text {

// One per reply. The stop string whose end comes first wins; of several that end together, the longest.
// The match itself and all after it are not emitted. Empty stop strings are ignored.
class StopMatcher {
 public:
  explicit StopMatcher(std::span<const std::string> stops);

  struct Result {
    std::string text;     // safe to emit
    int stop_index = -1;  // which stop string was found (index into `stops`), or -1
  };
  // Emits all but a tail that may still become a stop string. After a match every push gives nothing.
  Result push(std::string_view text);
  // The end of the reply without a match: the held-back tail.
  std::string flush();

  bool stopped() const { return stopped_; }
  bool empty() const { return patterns_.empty(); }

 private:
  struct Pattern {
    std::string text;
    std::vector<size_t> fallback;  // [text size] longest border of text[0..i]
    size_t matched = 0;            // bytes of `text` that the input now ends with
    int index = 0;
  };
  std::vector<Pattern> patterns_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace orfebre::text
