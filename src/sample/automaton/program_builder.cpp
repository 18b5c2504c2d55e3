#include "sample/automaton/program_builder.h"

#include "base/error.h"
#include "sample/automaton/dfa_writer.h"

#include <algorithm>

namespace orfebre::automaton {

ProgramBuilder::ProgramBuilder() = default;

RuleId ProgramBuilder::add_rule(int32_t least, int32_t most) {
  const auto rule = static_cast<RuleId>(rules_.size());
  rules_.push_back({0, least, most});
  rules_[rule].start = add_state(rule);
  return rule;
}

StateId ProgramBuilder::add_state(RuleId rule) {
  if (states_.size() >= kMaxStates) {
    fail(ErrorKind::kUnsupported, "too large: its automaton has more than {} states", kMaxStates);
  }
  states_.push_back({rule, false, {}, {}, {}});
  return static_cast<StateId>(states_.size()) - 1;
}

void ProgramBuilder::add_edge(StateId from, uint32_t low, uint32_t high, StateId to, Action action) {
  std::vector<Edge>& edges = states_[from].edges;
  if (!edges.empty() && edges.back().high + 1u == low && edges.back().target == to &&
      edges.back().action == action) {
    edges.back().high = static_cast<uint16_t>(high);
    return;
  }
  edges.push_back({static_cast<uint16_t>(low), static_cast<uint16_t>(high), to, action});
}

void ProgramBuilder::add_call(StateId from, RuleId rule, StateId then, Action action) {
  states_[from].calls.push_back({rule, then, action});
}

StateId ProgramBuilder::add_text(StateId from, std::string_view text) {
  for (const char c : text) {
    const StateId next = add_state(states_[from].rule);
    add_edge(from, static_cast<unsigned char>(c), static_cast<unsigned char>(c), next);
    from = next;
  }
  return from;
}

StateId ProgramBuilder::add_control(StateId from, std::optional<int32_t> id, std::string_view text) {
  if (!id) {
    return add_text(from, text);
  }
  const auto found = std::find(control_tokens_.begin(), control_tokens_.end(), *id);
  const auto symbol = kFirstControl + static_cast<uint32_t>(found - control_tokens_.begin());
  if (found == control_tokens_.end()) {
    control_tokens_.push_back(*id);
  }
  const StateId next = add_state(states_[from].rule);
  add_edge(from, symbol, symbol, next);
  return next;
}

StateId ProgramBuilder::add_dfa(RuleId rule, const CharDfa& dfa, Writing writing, StateId exit,
                                bool counted) {
  return DfaWriter(*this, rule, dfa, writing, counted).write(exit);
}

// States from which their rule's end can be reached, by rules that have an end themselves.
std::vector<bool> ProgramBuilder::live_states() const {
  const size_t n = states_.size();
  std::vector<std::vector<StateId>> sources(n);  // by target of an edge or call
  std::vector<std::vector<StateId>> callers(rules_.size());
  std::vector<bool> live(n, false);
  std::vector<StateId> queue;
  const auto mark = [&](StateId state) {
    if (!live[state]) {
      live[state] = true;
      queue.push_back(state);
    }
  };
  for (StateId s = 0; s < n; ++s) {
    for (const Edge& edge : states_[s].edges) {
      sources[edge.target].push_back(s);
    }
    for (const Call& call : states_[s].calls) {
      sources[call.then].push_back(s);
      if (call.rule != kJump) {
        callers[call.rule].push_back(s);
      }
    }
    if (states_[s].is_final) {
      mark(s);
    }
  }
  const auto is_live_call = [&](const Call& call) {
    return live[call.then] && (call.rule == kJump || live[rules_[call.rule].start]);
  };
  const auto is_live = [&](const Draft& state) {
    return std::any_of(state.edges.begin(), state.edges.end(),
                       [&](const Edge& e) { return live[e.target]; }) ||
           std::any_of(state.calls.begin(), state.calls.end(), is_live_call);
  };
  while (!queue.empty()) {
    const StateId state = queue.back();
    queue.pop_back();
    std::vector<StateId> affected = sources[state];
    if (rules_[states_[state].rule].start == state) {
      const auto& calling = callers[states_[state].rule];
      affected.insert(affected.end(), calling.begin(), calling.end());
    }
    for (const StateId source : affected) {
      if (!live[source] && is_live(states_[source])) {
        mark(source);
      }
    }
  }
  return live;
}

Program ProgramBuilder::finish(RuleId root) {
  const std::vector<bool> live = live_states();
  if (!live[rules_[root].start]) {
    fail(ErrorKind::kInvalidRequest, "allows nothing: no value can satisfy it");
  }
  Program program;
  program.rules = rules_;
  program.root = root;
  program.control_tokens = control_tokens_;
  for (Draft& draft : states_) {
    State state;
    state.rule = draft.rule;
    state.is_final = draft.is_final;
    state.tolerance = draft.tolerance;
    state.first_edge = static_cast<uint32_t>(program.edges.size());
    std::sort(draft.edges.begin(), draft.edges.end(),
              [](const Edge& a, const Edge& b) { return a.low < b.low; });
    for (const Edge& edge : draft.edges) {
      if (live[edge.target]) {
        ORFEBRE_CHECK(program.edges.size() == state.first_edge || program.edges.back().high < edge.low);
        program.edges.push_back(edge);
      }
    }
    state.n_edges = static_cast<uint32_t>(program.edges.size()) - state.first_edge;
    state.first_call = static_cast<uint32_t>(program.calls.size());
    for (const Call& call : draft.calls) {
      if (live[call.then] && (call.rule == kJump || live[rules_[call.rule].start])) {
        program.calls.push_back(call);
      }
    }
    state.n_calls = static_cast<uint32_t>(program.calls.size()) - state.first_call;
    program.states.push_back(state);
  }
  number_symbols(program);
  return program;
}

// A class ends where some edge begins or ends.
void ProgramBuilder::number_symbols(Program& program) {
  const size_t n_symbols = kFirstControl + program.control_tokens.size();
  std::vector<bool> begins(n_symbols + 1, false);
  for (const Edge& edge : program.edges) {
    begins[edge.low] = true;
    begins[edge.high + 1u] = true;
  }
  uint16_t current = 0;
  for (size_t symbol = 0; symbol < n_symbols; ++symbol) {
    current = static_cast<uint16_t>(current + (symbol > 0 && begins[symbol] ? 1 : 0));
    program.symbol_class.push_back(current);
  }
  program.n_classes = current + 1u;
}

}  // namespace orfebre::automaton
