// Finds added tokens in text: the earliest first, of those that start together the longest.
#pragma once

#include "text/encoding/tokenizer_file.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orfebre::text {

class AddedTokenFinder {
 public:
  struct Match {
    size_t begin, end;
    int32_t id;
  };

  AddedTokenFinder() = default;
  // Only the tokens whose `normalized` flag is the given one.
  AddedTokenFinder(std::span<const AddedToken> tokens, bool normalized);

  bool empty() const { return n_tokens_ == 0; }
  // Appends the matches that lie within text[begin, end), left to right, without overlap.
  void find(std::string_view text, size_t begin, size_t end, std::vector<Match>& out) const;

 private:
  struct Entry {
    std::string text;
    int32_t id;
  };
  std::array<std::vector<Entry>, 256> by_first_byte_;  // longest first
  size_t n_tokens_ = 0;
};

}  // namespace orfebre::text
