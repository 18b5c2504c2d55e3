// Writes an automaton over characters into a rule, as bytes: UTF-8, and JSON's escapes.
// program_builder.cpp's.
#pragma once

#include "sample/automaton/program_builder.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace orfebre::automaton {

class DfaWriter {
 public:
  DfaWriter(ProgramBuilder& builder, RuleId rule, const CharDfa& dfa, Writing writing, bool counted)
      : builder_(builder), rule_(rule), dfa_(dfa), writing_(writing), counted_(counted) {}

  // The state of the automaton's start; accepting states jump to `exit`.
  StateId write(StateId exit);

 private:
  using Edges = std::vector<CharEdge>;
  static constexpr StateId kNone = 0xFFFFFFFF;
  static constexpr size_t kNever = SIZE_MAX;

  void write_state(size_t index);
  void write_ascii(StateId from, const Edges& edges);
  void write_multibyte(StateId from, const Edges& edges);
  void write_escapes(StateId from, const Edges& edges);
  StateId continuation(int n_bytes, uint32_t base, const Edges& edges);
  StateId uniform_continuation(int n_bytes, int32_t target);
  StateId control_escapes(const Edges& edges);
  StateId any_escape(int32_t target);
  StateId hex_digits(int n_digits, int32_t target);
  void hex_edge(StateId from, uint32_t low, uint32_t high, StateId to, Action action = Action::kNone);
  void set_tolerances();
  std::vector<size_t> steps_to_a_gap(const CharSet& set) const;
  std::vector<int32_t> longest_plain() const;
  // The one state to which every character leads, or -1.
  int32_t only_target(size_t index) const;

  Action count() const { return counted_ ? Action::kCount : Action::kNone; }
  // Of the first byte of several, lest a character begin that may not end.
  Action more() const { return counted_ ? Action::kMore : Action::kNone; }
  StateId state_of(int32_t target) const { return states_[static_cast<size_t>(target)]; }

  ProgramBuilder& builder_;
  const RuleId rule_;
  const CharDfa& dfa_;
  const Writing writing_;
  const bool counted_;
  std::vector<StateId> states_;
  std::map<std::pair<int, int32_t>, StateId> uniform_, hex_;
  std::map<int32_t, StateId> escapes_;
};

}  // namespace orfebre::automaton
