// Puts a Program together: rules, literals, automata over characters written as bytes.
#pragma once

#include "sample/automaton/char_dfa.h"
#include "sample/automaton/program.h"

#include <optional>
#include <string_view>

namespace orfebre::automaton {

// How a character is written.
enum class Writing {
  kRaw,   // as UTF-8
  kJson,  // inside a JSON string: as UTF-8 or escaped
};

class ProgramBuilder {
 public:
  // More than this is refused: Error (kUnsupported).
  static constexpr size_t kMaxStates = 400'000;

  ProgramBuilder();

  RuleId add_rule(int32_t least = 0, int32_t most = kNoLimit);
  StateId start(RuleId rule) const { return rules_[rule].start; }
  StateId add_state(RuleId rule);
  RuleId rule_of(StateId state) const { return states_[state].rule; }
  void set_final(StateId state) { states_[state].is_final = true; }

  void add_edge(StateId from, uint32_t low, uint32_t high, StateId to, Action action = Action::kNone);
  void add_call(StateId from, RuleId rule, StateId then, Action action = Action::kNone);
  void add_jump(StateId from, StateId to, Action action = Action::kNone) {
    add_call(from, kJump, to, action);
  }
  // The bytes of `text` one after the other; returns the state behind them.
  StateId add_text(StateId from, std::string_view text);
  // The control token `id`, or, without one, its text.
  StateId add_control(StateId from, std::optional<int32_t> id, std::string_view text);
  // The texts of `dfa`: the way into it. Behind a whole text the automaton may go on at `exit` without a
  // byte, with Action::kClose if `counted`; each character then counts.
  StateId add_dfa(RuleId rule, const CharDfa& dfa, Writing writing, StateId exit, bool counted = false);

  // Throws Error (kInvalidRequest, "allows nothing") when no text at all leads from the root's start to its
  // end. Whatever cannot lead there is taken out, so that no choice of edges ends in a dead end.
  Program finish(RuleId root);

 private:
  friend class DfaWriter;
  struct Draft {
    RuleId rule;
    bool is_final = false;
    Tolerance tolerance;
    std::vector<Edge> edges;
    std::vector<Call> calls;
  };
  std::vector<bool> live_states() const;
  static void number_symbols(Program& program);

  std::vector<Draft> states_;
  std::vector<Rule> rules_;
  std::vector<int32_t> control_tokens_;
};

}  // namespace orfebre::automaton
