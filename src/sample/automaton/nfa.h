// Nondeterministic automata over characters, the step between a regular expression or a range of numbers and
// a CharDfa. Empty edges may ask for the beginning or the end of the text.
#pragma once

#include "sample/automaton/char_dfa.h"

#include <cstdint>
#include <vector>

namespace orfebre::automaton {

class Nfa {
 public:
  enum class When : uint8_t { kAlways, kAtBegin, kAtEnd };

  int32_t add_state();
  void add_edge(int32_t from, const CharSet& characters, int32_t to);
  void add_empty(int32_t from, int32_t to, When when = When::kAlways);
  size_t n_states() const { return states_.size(); }

  // The reduced automaton of the texts that lead from `start` to `accept`. Throws Error (kUnsupported) when
  // it grows beyond kMaxDfaStates, or the work beyond a bound.
  CharDfa determinized(int32_t start, int32_t accept) const;

 private:
  struct Edge {
    CharRange range;
    int32_t to;
  };
  struct Empty {
    int32_t to;
    When when;
  };
  struct State {
    std::vector<Edge> edges;
    std::vector<Empty> empties;
  };

  void close(std::vector<int32_t>& states, bool at_begin, bool at_end) const;

  std::vector<State> states_;
};

}  // namespace orfebre::automaton
