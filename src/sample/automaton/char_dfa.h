// Deterministic automata over characters: patterns, formats, numbers and lists of texts, before they become
// bytes (program_builder.h). A value like any other: built once, never changed.
#pragma once

#include "sample/automaton/char_set.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orfebre::automaton {

struct CharEdge {
  uint32_t low, high;  // characters, both inclusive
  int32_t target;      // index of a state
  bool operator==(const CharEdge&) const = default;
};

struct CharState {
  std::vector<CharEdge> edges;  // sorted, disjoint
  bool accept = false;
};

// State 0 is the start. Without states: no text at all is accepted.
struct CharDfa {
  std::vector<CharState> states;
  bool empty() const { return states.empty(); }
};

// More states than this are refused: Error (kUnsupported) with the text "too large". It bounds the time that
// one schema can take.
inline constexpr size_t kMaxDfaStates = 20'000;

int32_t next_state(const CharDfa& dfa, int32_t state, uint32_t character);  // -1: none
bool accepts(const CharDfa& dfa, std::string_view utf8);

CharDfa any_text();
// Exactly these texts (UTF-8).
CharDfa of_texts(std::span<const std::string> texts);
// Those of low to high characters; high < 0: no limit.
CharDfa with_length(const CharDfa& dfa, int64_t low, int64_t high);

CharDfa intersection(const CharDfa& a, const CharDfa& b);
CharDfa complement(const CharDfa& dfa);
// The same language with the fewest states, every state on a way to acceptance.
CharDfa reduced(const CharDfa& dfa);

}  // namespace orfebre::automaton
