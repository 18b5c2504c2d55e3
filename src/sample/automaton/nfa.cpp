#include "sample/automaton/nfa.h"

#include "base/error.h"

#include <algorithm>
#include <map>

namespace orfebre::automaton {
namespace {

constexpr size_t kMaxWork = 20'000'000;  // visits of NFA states

}  // namespace

int32_t Nfa::add_state() {
  states_.emplace_back();
  return static_cast<int32_t>(states_.size()) - 1;
}

void Nfa::add_edge(int32_t from, const CharSet& characters, int32_t to) {
  for (const CharRange& range : characters.ranges()) {
    states_[static_cast<size_t>(from)].edges.push_back({range, to});
  }
}

void Nfa::add_empty(int32_t from, int32_t to, When when) {
  states_[static_cast<size_t>(from)].empties.push_back({to, when});
}

// Adds what empty edges reach; sorts.
void Nfa::close(std::vector<int32_t>& states, bool at_begin, bool at_end) const {
  std::vector<bool> seen(states_.size(), false);
  std::vector<int32_t> queue = states;
  states.clear();
  while (!queue.empty()) {
    const int32_t state = queue.back();
    queue.pop_back();
    if (seen[static_cast<size_t>(state)]) {
      continue;
    }
    seen[static_cast<size_t>(state)] = true;
    states.push_back(state);
    for (const Empty& empty : states_[static_cast<size_t>(state)].empties) {
      const bool open = empty.when == When::kAlways || (empty.when == When::kAtBegin && at_begin) ||
                        (empty.when == When::kAtEnd && at_end);
      if (open) {
        queue.push_back(empty.to);
      }
    }
  }
  std::sort(states.begin(), states.end());
}

CharDfa Nfa::determinized(int32_t start, int32_t accept) const {
  std::map<std::vector<int32_t>, int32_t> numbers;
  std::vector<std::vector<int32_t>> sets;
  size_t work = 0;
  const auto number_of = [&](std::vector<int32_t> set, bool at_begin) {
    close(set, at_begin, false);
    work += set.size() + states_.size() / 64;
    const auto [found, is_new] = numbers.emplace(std::move(set), static_cast<int32_t>(sets.size()));
    if (is_new) {
      sets.push_back(found->first);
    }
    if (sets.size() > kMaxDfaStates || work > kMaxWork) {
      fail(ErrorKind::kUnsupported, "too large: its automaton has more than {} states", kMaxDfaStates);
    }
    return found->second;
  };
  number_of({start}, true);
  CharDfa dfa;
  for (size_t i = 0; i < sets.size(); ++i) {
    CharState state;
    std::vector<int32_t> at_end = sets[i];
    close(at_end, i == 0, true);
    state.accept = std::binary_search(at_end.begin(), at_end.end(), accept);
    // Between two neighbouring bounds all characters have the same targets.
    std::vector<const Edge*> edges;
    std::vector<uint32_t> bounds;
    for (const int32_t member : sets[i]) {
      for (const Edge& edge : states_[static_cast<size_t>(member)].edges) {
        edges.push_back(&edge);
        bounds.push_back(edge.range.low);
        bounds.push_back(edge.range.high + 1);
      }
    }
    std::sort(bounds.begin(), bounds.end());
    bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
    for (size_t b = 0; b + 1 < bounds.size(); ++b) {
      std::vector<int32_t> targets;
      work += edges.size() / 8;
      for (const Edge* edge : edges) {
        if (edge->range.low <= bounds[b] && bounds[b] <= edge->range.high) {
          targets.push_back(edge->to);
        }
      }
      if (!targets.empty()) {
        state.edges.push_back({bounds[b], bounds[b + 1] - 1, number_of(std::move(targets), false)});
      }
    }
    dfa.states.push_back(std::move(state));
  }
  return reduced(dfa);
}

}  // namespace orfebre::automaton
