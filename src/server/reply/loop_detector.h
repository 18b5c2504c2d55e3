// Finds the loops that a model falls into: the same tokens over and over.
//
// The rule: the last n tokens repeat with a period of p tokens, where p is at most kLongestPeriod, n is at
// least kLeastTokens and holds the period at least kLeastRepeats times. So a phrase of 20 tokens must come 51
// times in a row, and a paragraph of 500 six times, without a single token's difference. What counts up, or
// names another row in each line, as tables and code do, is no loop.
#pragma once

#include <array>
#include <cstdint>

namespace orfebre {

class LoopDetector {
 public:
  static constexpr int kLongestPeriod = 512;  // tokens
  static constexpr int kLeastRepeats = 6;
  static constexpr int kLeastTokens = 1024;

  // The next token; true once the tokens so far end in a loop. About a quarter of a microsecond.
  bool push(int32_t id);
  // Forgets what came.
  void reset();

 private:
  std::array<int32_t, 2 * kLongestPeriod> recent_{};   // a ring, twice, so that its newest lie side by side
  std::array<int32_t, kLongestPeriod + 1> matched_{};  // [p]: how many tokens in a row equal the one p before
  int64_t n_tokens_ = 0;
};

}  // namespace orfebre
