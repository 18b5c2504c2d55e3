#include "sample/automaton/char_dfa.h"

#include "base/error.h"

#include <algorithm>
#include <map>
#include <utility>

namespace orfebre::automaton {
namespace {

constexpr size_t kMaxSignatures = 300'000;

void require_size(size_t n_states) {
  if (n_states > kMaxDfaStates) {
    fail(ErrorKind::kUnsupported, "too large: its automaton has more than {} states", kMaxDfaStates);
  }
}

// Adds an edge behind the others, joined with the one before if they touch.
void append_edge(std::vector<CharEdge>& edges, uint32_t low, uint32_t high, int32_t target) {
  if (!edges.empty() && edges.back().target == target && edges.back().high + 1 == low) {
    edges.back().high = high;
  } else {
    edges.push_back({low, high, target});
  }
}

// The states from which acceptance can be reached.
std::vector<bool> live_states(const CharDfa& dfa) {
  std::vector<std::vector<int32_t>> sources(dfa.states.size());
  std::vector<bool> live(dfa.states.size(), false);
  std::vector<int32_t> queue;
  for (size_t s = 0; s < dfa.states.size(); ++s) {
    for (const CharEdge& edge : dfa.states[s].edges) {
      sources[static_cast<size_t>(edge.target)].push_back(static_cast<int32_t>(s));
    }
    if (dfa.states[s].accept) {
      live[s] = true;
      queue.push_back(static_cast<int32_t>(s));
    }
  }
  while (!queue.empty()) {
    const int32_t state = queue.back();
    queue.pop_back();
    for (const int32_t source : sources[static_cast<size_t>(state)]) {
      if (!live[static_cast<size_t>(source)]) {
        live[static_cast<size_t>(source)] = true;
        queue.push_back(source);
      }
    }
  }
  return live;
}

// Live and reachable states, renumbered in the order in which they are reached.
CharDfa trimmed(const CharDfa& dfa) {
  CharDfa result;
  if (dfa.empty()) {
    return result;
  }
  const std::vector<bool> live = live_states(dfa);
  if (!live[0]) {
    return result;
  }
  std::vector<int32_t> number(dfa.states.size(), -1);
  std::vector<int32_t> order{0};
  number[0] = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const CharState& from = dfa.states[static_cast<size_t>(order[i])];
    CharState to;
    to.accept = from.accept;
    for (const CharEdge& edge : from.edges) {
      const auto target = static_cast<size_t>(edge.target);
      if (!live[target]) {
        continue;
      }
      if (number[target] < 0) {
        number[target] = static_cast<int32_t>(order.size());
        order.push_back(edge.target);
      }
      append_edge(to.edges, edge.low, edge.high, number[target]);
    }
    result.states.push_back(std::move(to));
  }
  return result;
}

}  // namespace

int32_t next_state(const CharDfa& dfa, int32_t state, uint32_t character) {
  const auto& edges = dfa.states[static_cast<size_t>(state)].edges;
  const auto after = std::upper_bound(edges.begin(), edges.end(), character,
                                      [](uint32_t c, const CharEdge& edge) { return c < edge.low; });
  if (after == edges.begin() || std::prev(after)->high < character) {
    return -1;
  }
  return std::prev(after)->target;
}

bool accepts(const CharDfa& dfa, std::string_view utf8) {
  int32_t state = dfa.empty() ? -1 : 0;
  for (const uint32_t c : decode_utf8(utf8)) {
    if (state < 0) {
      return false;
    }
    state = next_state(dfa, state, c);
  }
  return state >= 0 && dfa.states[static_cast<size_t>(state)].accept;
}

CharDfa any_text() {
  CharDfa dfa;
  dfa.states.push_back({{}, true});
  for (const CharRange& range : CharSet::any().ranges()) {
    dfa.states[0].edges.push_back({range.low, range.high, 0});
  }
  return dfa;
}

CharDfa of_texts(std::span<const std::string> texts) {
  std::vector<std::map<uint32_t, int32_t>> children(1);
  std::vector<bool> accept(1, false);
  for (const std::string& text : texts) {
    size_t state = 0;
    for (const uint32_t c : decode_utf8(text)) {
      const auto [found, is_new] = children[state].emplace(c, static_cast<int32_t>(children.size()));
      state = static_cast<size_t>(found->second);
      if (is_new) {
        children.emplace_back();
        accept.push_back(false);
        require_size(children.size());
      }
    }
    accept[state] = true;
  }
  CharDfa dfa;
  for (size_t s = 0; s < children.size(); ++s) {
    CharState state{{}, accept[s]};
    for (const auto& [c, target] : children[s]) {
      state.edges.push_back({c, c, target});
    }
    dfa.states.push_back(std::move(state));
  }
  return reduced(dfa);
}

CharDfa with_length(const CharDfa& dfa, int64_t low, int64_t high) {
  CharDfa result;
  if (dfa.empty()) {
    return result;
  }
  using Place = std::pair<int32_t, int64_t>;  // state, characters read; without a limit counted up to `low`
  std::map<Place, int32_t> numbers{{{0, 0}, 0}};
  std::vector<Place> places{{0, 0}};
  for (size_t i = 0; i < places.size(); ++i) {
    const auto [from, n] = places[i];
    const CharState& old = dfa.states[static_cast<size_t>(from)];
    CharState state{{}, old.accept && n >= low};
    const int64_t next = high < 0 ? std::min(n + 1, low) : n + 1;
    for (const CharEdge& edge : old.edges) {
      if (high >= 0 && next > high) {
        break;
      }
      const auto [found, is_new] =
          numbers.emplace(Place{edge.target, next}, static_cast<int32_t>(places.size()));
      if (is_new) {
        places.emplace_back(edge.target, next);
        require_size(places.size());
      }
      append_edge(state.edges, edge.low, edge.high, found->second);
    }
    result.states.push_back(std::move(state));
  }
  return reduced(result);
}

CharDfa intersection(const CharDfa& a, const CharDfa& b) {
  CharDfa result;
  if (a.empty() || b.empty()) {
    return result;
  }
  std::map<std::pair<int32_t, int32_t>, int32_t> numbers{{{0, 0}, 0}};
  std::vector<std::pair<int32_t, int32_t>> pairs{{0, 0}};
  for (size_t i = 0; i < pairs.size(); ++i) {
    const CharState& x = a.states[static_cast<size_t>(pairs[i].first)];
    const CharState& y = b.states[static_cast<size_t>(pairs[i].second)];
    CharState state{{}, x.accept && y.accept};
    for (auto p = x.edges.begin(), q = y.edges.begin(); p != x.edges.end() && q != y.edges.end();) {
      const uint32_t low = std::max(p->low, q->low), high = std::min(p->high, q->high);
      if (low <= high) {
        const std::pair target{p->target, q->target};
        const auto [found, is_new] = numbers.emplace(target, static_cast<int32_t>(pairs.size()));
        if (is_new) {
          pairs.push_back(target);
          require_size(pairs.size());
        }
        append_edge(state.edges, low, high, found->second);
      }
      p->high < q->high ? ++p : ++q;
    }
    result.states.push_back(std::move(state));
  }
  return reduced(result);
}

CharDfa complement(const CharDfa& dfa) {
  CharDfa result = dfa.empty() ? CharDfa{{CharState{}}} : dfa;
  const auto sink = static_cast<int32_t>(result.states.size());
  result.states.emplace_back();
  for (CharState& state : result.states) {
    CharSet covered;
    for (const CharEdge& edge : state.edges) {
      covered.add(edge.low, edge.high);
    }
    const CharSet rest = covered.complement();
    for (const CharRange& range : rest.ranges()) {
      state.edges.push_back({range.low, range.high, sink});
    }
    std::sort(state.edges.begin(), state.edges.end(),
              [](const CharEdge& x, const CharEdge& y) { return x.low < y.low; });
    state.accept = !state.accept;
  }
  return reduced(result);
}

// Moore's refinement: states stay together while no character tells them apart. Long chains need many rounds;
// beyond kMaxSignatures they stay as they are, since fewer states are only a gain of speed.
CharDfa reduced(const CharDfa& dfa) {
  CharDfa lean = trimmed(dfa);
  const size_t n_states = lean.states.size();
  std::vector<int32_t> group(n_states);
  for (size_t s = 0; s < n_states; ++s) {
    group[s] = lean.states[s].accept ? 1 : 0;
  }
  const auto signature = [&](size_t s) {
    std::vector<CharEdge> edges;
    for (const CharEdge& edge : lean.states[s].edges) {
      append_edge(edges, edge.low, edge.high, group[static_cast<size_t>(edge.target)]);
    }
    return edges;
  };
  using Signature = std::pair<int32_t, std::vector<CharEdge>>;
  const auto before = [](const Signature& x, const Signature& y) {
    const auto key = [](const CharEdge& e) { return std::tuple(e.low, e.high, e.target); };
    return x.first != y.first ? x.first < y.first
                              : std::lexicographical_compare(
                                    x.second.begin(), x.second.end(), y.second.begin(), y.second.end(),
                                    [&](const CharEdge& e, const CharEdge& f) { return key(e) < key(f); });
  };
  size_t n_signatures = 0;
  for (size_t n_groups = 0;;) {
    n_signatures += n_states;
    if (n_signatures > kMaxSignatures) {
      return lean;
    }
    std::map<Signature, int32_t, decltype(before)> numbers(before);
    std::vector<int32_t> refined(n_states);
    for (size_t s = 0; s < n_states; ++s) {
      refined[s] = numbers.emplace(Signature{group[s], signature(s)}, static_cast<int32_t>(numbers.size()))
                       .first->second;
    }
    group = std::move(refined);
    if (numbers.size() == n_groups) {
      break;
    }
    n_groups = numbers.size();
  }
  CharDfa result;
  for (size_t s = 0; s < n_states;
       ++s) {  // group numbers rise in the order of first members; 0 is the start's
    if (static_cast<size_t>(group[s]) == result.states.size()) {
      result.states.push_back({signature(s), lean.states[s].accept});
    }
  }
  return result;
}

}  // namespace orfebre::automaton
