#include "sample/automaton/dfa_writer.h"

#include <algorithm>

namespace orfebre::automaton {
namespace {

constexpr uint32_t kTagStart = '<';

// The parts of `edges` within [low, high].
std::vector<CharEdge> clipped(const std::vector<CharEdge>& edges, uint32_t low, uint32_t high) {
  std::vector<CharEdge> parts;
  auto edge = std::lower_bound(edges.begin(), edges.end(), low,
                               [](const CharEdge& e, uint32_t c) { return e.high < c; });
  for (; edge != edges.end() && edge->low <= high; ++edge) {
    parts.push_back({std::max(edge->low, low), std::min(edge->high, high), edge->target});
  }
  return parts;
}

int32_t target_of(const std::vector<CharEdge>& edges, uint32_t character) {
  const auto parts = clipped(edges, character, character);
  return parts.empty() ? -1 : parts[0].target;
}

const CharSet& plain_characters() {
  static const CharSet set = CharSet{{0, 0x1F}, {'"', '"'}, {'\\', '\\'}, {0x2028, 0x2029}}.complement();
  return set;
}

// Whether `edges` cover `set`; the targets are appended to `targets`.
bool cover(const std::vector<CharEdge>& edges, const CharSet& set, std::vector<int32_t>& targets) {
  uint64_t covered = 0, wanted = 0;
  for (const CharRange& range : set.ranges()) {
    wanted += range.high - range.low + 1;
    for (const CharEdge& part : clipped(edges, range.low, range.high)) {
      covered += part.high - part.low + 1;
      targets.push_back(part.target);
    }
  }
  return covered == wanted;
}

}  // namespace

StateId DfaWriter::write(StateId exit) {
  for (size_t i = 0; i < dfa_.states.size(); ++i) {
    states_.push_back(builder_.add_state(rule_));
    if (dfa_.states[i].accept) {
      builder_.add_jump(states_[i], exit, counted_ ? Action::kClose : Action::kNone);
    }
  }
  for (size_t i = 0; i < dfa_.states.size(); ++i) {
    write_state(i);
  }
  set_tolerances();
  return states_.empty() ? builder_.add_state(rule_) : states_[0];
}

void DfaWriter::write_state(size_t index) {
  const Edges& edges = dfa_.states[index].edges;
  write_ascii(states_[index], edges);
  write_multibyte(states_[index], edges);
  if (writing_ == Writing::kJson) {
    write_escapes(states_[index], edges);
  }
}

void DfaWriter::write_ascii(StateId from, const Edges& edges) {
  const auto add = [&](uint32_t low, uint32_t high) {
    for (const CharEdge& part : clipped(edges, low, high)) {
      builder_.add_edge(from, part.low, part.high, state_of(part.target), count());
    }
  };
  if (writing_ == Writing::kRaw) {
    add(0, 0x7F);
  } else {
    add(0x20, '"' - 1);
    add('"' + 1, '\\' - 1);
    add('\\' + 1, 0x7F);
  }
}

void DfaWriter::write_multibyte(StateId from, const Edges& edges) {
  const auto add = [&](uint32_t lead, uint32_t base, int n_bytes, const Edges& all) {
    const StateId next = continuation(n_bytes, base, all);
    if (next != kNone) {
      builder_.add_edge(from, lead, lead, next, more());
    }
  };
  const Edges two = clipped(edges, 0x80, 0x7FF), three = clipped(edges, 0x800, 0xFFFF),
              four = clipped(edges, 0x10000, kLastChar);
  for (uint32_t lead = 0xC2; lead <= 0xDF && !two.empty(); ++lead) {
    add(lead, (lead & 0x1F) << 6, 1, two);
  }
  for (uint32_t lead = 0xE0; lead <= 0xEF && !three.empty(); ++lead) {
    add(lead, (lead & 0x0F) << 12, 2, three);
  }
  for (uint32_t lead = 0xF0; lead <= 0xF4 && !four.empty(); ++lead) {
    add(lead, (lead & 0x07) << 18, 3, four);
  }
}

// The state before the last `n_bytes` bytes of the characters from `base` on, or kNone.
StateId DfaWriter::continuation(int n_bytes, uint32_t base, const Edges& edges) {
  const uint32_t span = 1u << (6 * n_bytes);
  const Edges parts = clipped(edges, base, base + span - 1);
  if (parts.empty()) {
    return kNone;
  }
  if (parts[0].low == base && parts[0].high == base + span - 1) {
    return uniform_continuation(n_bytes, parts[0].target);
  }
  const StateId state = builder_.add_state(rule_);
  const uint32_t step = span >> 6;
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t first = base + i * step;
    if (n_bytes > 1) {
      const StateId next = continuation(n_bytes - 1, first, parts);
      if (next != kNone) {
        builder_.add_edge(state, 0x80 + i, 0x80 + i, next);
      }
    } else if (const int32_t target = target_of(parts, first); target >= 0) {
      builder_.add_edge(state, 0x80 + i, 0x80 + i, state_of(target), count());
    }
  }
  return state;
}

StateId DfaWriter::uniform_continuation(int n_bytes, int32_t target) {
  if (const auto found = uniform_.find({n_bytes, target}); found != uniform_.end()) {
    return found->second;
  }
  const StateId state = builder_.add_state(rule_);
  const bool is_last = n_bytes == 1;
  const StateId next = is_last ? state_of(target) : uniform_continuation(n_bytes - 1, target);
  builder_.add_edge(state, 0x80, 0xBF, next, is_last ? count() : Action::kNone);
  uniform_.emplace(std::pair(n_bytes, target), state);
  return state;
}

// Behind the backslash: the short escapes of characters that may come; any \uXXXX where any character may,
// elsewhere only those of control characters, which have no other form.
void DfaWriter::write_escapes(StateId from, const Edges& edges) {
  constexpr std::pair<char, uint32_t> kShort[] = {{'"', '"'},  {'/', '/'},  {'\\', '\\'}, {'b', '\b'},
                                                  {'f', '\f'}, {'n', '\n'}, {'r', '\r'},  {'t', '\t'}};
  const StateId escape = builder_.add_state(rule_);
  bool any = false;
  for (const auto& [letter, character] : kShort) {
    if (const int32_t target = target_of(edges, character); target >= 0) {
      const uint32_t c = static_cast<unsigned char>(letter);
      builder_.add_edge(escape, c, c, state_of(target), count());
      any = true;
    }
  }
  std::vector<int32_t> targets;
  const bool all = cover(edges, CharSet::any(), targets) &&
                   std::all_of(targets.begin(), targets.end(), [&](int32_t t) { return t == targets[0]; });
  const StateId unicode = all ? any_escape(targets[0]) : control_escapes(edges);
  if (unicode != kNone) {
    builder_.add_edge(escape, 'u', 'u', unicode);
    any = true;
  }
  if (any) {
    builder_.add_edge(from, '\\', '\\', escape, more());
  }
}

// low and high are values of a digit.
void DfaWriter::hex_edge(StateId from, uint32_t low, uint32_t high, StateId to, Action action) {
  for (uint32_t value = low; value <= high; ++value) {
    const uint32_t c = value < 10 ? '0' + value : 'a' + value - 10;
    builder_.add_edge(from, c, c, to, action);
    if (value >= 10) {
      builder_.add_edge(from, c - 0x20, c - 0x20, to, action);
    }
  }
}

// "u" is read; control characters as \u00XX.
StateId DfaWriter::control_escapes(const Edges& edges) {
  const Edges controls = clipped(edges, 0, 0x1F);
  if (controls.empty()) {
    return kNone;
  }
  const StateId first = builder_.add_state(rule_);
  const StateId high = builder_.add_text(first, "00");
  for (uint32_t h = 0; h < 2; ++h) {
    const StateId low = builder_.add_state(rule_);
    builder_.add_edge(high, '0' + h, '0' + h, low);
    for (uint32_t l = 0; l < 16; ++l) {
      if (const int32_t target = target_of(controls, h * 16 + l); target >= 0) {
        hex_edge(low, l, l, state_of(target), count());
      }
    }
  }
  return first;
}

StateId DfaWriter::hex_digits(int n_digits, int32_t target) {
  if (n_digits == 0) {
    return state_of(target);
  }
  if (const auto found = hex_.find({n_digits, target}); found != hex_.end()) {
    return found->second;
  }
  const StateId state = builder_.add_state(rule_);
  hex_edge(state, 0, 15, hex_digits(n_digits - 1, target), n_digits == 1 ? count() : Action::kNone);
  hex_.emplace(std::pair(n_digits, target), state);
  return state;
}

// "u" is read; four hexadecimal digits, surrogates in pairs only.
StateId DfaWriter::any_escape(int32_t target) {
  if (const auto found = escapes_.find(target); found != escapes_.end()) {
    return found->second;
  }
  const StateId first = builder_.add_state(rule_);
  hex_edge(first, 0, 12, hex_digits(3, target));
  hex_edge(first, 14, 15, hex_digits(3, target));
  const StateId after_d = builder_.add_state(rule_);
  hex_edge(first, 13, 13, after_d);
  hex_edge(after_d, 0, 7, hex_digits(2, target));
  const StateId high_2 = builder_.add_state(rule_), high_3 = builder_.add_state(rule_),
                high_4 = builder_.add_state(rule_);
  hex_edge(after_d, 8, 11, high_2);
  hex_edge(high_2, 0, 15, high_3);
  hex_edge(high_3, 0, 15, high_4);
  const StateId low_1 = builder_.add_text(high_4, "\\u");
  const StateId low_2 = builder_.add_state(rule_);
  hex_edge(low_1, 13, 13, low_2);
  hex_edge(low_2, 12, 15, hex_digits(2, target));
  escapes_.emplace(target, first);
  return first;
}

int32_t DfaWriter::only_target(size_t index) const {
  std::vector<int32_t> targets;
  const bool all = cover(dfa_.states[index].edges, CharSet::any(), targets);
  const bool same = std::all_of(targets.begin(), targets.end(), [&](int32_t t) { return t == targets[0]; });
  return all && same ? targets[0] : -1;
}

// For each state, the fewest characters of `set` that lead to a state which lacks one of them; kNever where
// none do. From those states backwards.
std::vector<size_t> DfaWriter::steps_to_a_gap(const CharSet& set) const {
  const size_t n = dfa_.states.size();
  std::vector<size_t> steps(n, kNever);
  std::vector<std::vector<size_t>> sources(n);
  std::vector<size_t> queue;
  for (size_t i = 0; i < n; ++i) {
    std::vector<int32_t> targets;
    if (!cover(dfa_.states[i].edges, set, targets)) {
      steps[i] = 0;
      queue.push_back(i);
    }
    for (const int32_t target : targets) {
      sources[static_cast<size_t>(target)].push_back(i);
    }
  }
  for (size_t next = 0; next < queue.size(); ++next) {
    for (const size_t source : sources[queue[next]]) {
      if (steps[source] == kNever) {
        steps[source] = steps[queue[next]] + 1;
        queue.push_back(source);
      }
    }
  }
  return steps;
}

// For each state, how many plain characters it can take at most, -1 for any number. From the states that take
// none backwards; what lies on a circle, or leads to one, is never reached.
std::vector<int32_t> DfaWriter::longest_plain() const {
  const size_t n = dfa_.states.size();
  std::vector<int32_t> longest(n, 0);
  std::vector<std::vector<size_t>> sources(n);
  std::vector<size_t> n_open(n, 0), queue;
  for (size_t i = 0; i < n; ++i) {
    std::vector<int32_t> targets;
    cover(dfa_.states[i].edges, plain_characters(), targets);
    n_open[i] = targets.size();
    for (const int32_t target : targets) {
      sources[static_cast<size_t>(target)].push_back(i);
    }
    if (targets.empty()) {
      queue.push_back(i);
    }
  }
  for (size_t next = 0; next < queue.size(); ++next) {
    for (const size_t source : sources[queue[next]]) {
      longest[source] = std::max(longest[source], longest[queue[next]] + 1);
      if (--n_open[source] == 0) {
        queue.push_back(source);
      }
    }
  }
  for (size_t i = 0; i < n; ++i) {
    longest[i] = n_open[i] > 0 ? -1 : longest[i];
  }
  return longest;
}

void DfaWriter::set_tolerances() {
  const std::vector<size_t> plain = steps_to_a_gap(plain_characters());
  const std::vector<int32_t> longest = longest_plain();
  const bool is_json = writing_ == Writing::kJson;
  // What stays alive whatever character comes; in free text whatever but the one that may end it.
  const std::vector<size_t> any =
      steps_to_a_gap(is_json ? CharSet::any() : CharSet{{kTagStart, kTagStart}}.complement());
  for (size_t i = 0; i < dfa_.states.size(); ++i) {
    Tolerance& tolerance = builder_.states_[states_[i]].tolerance;
    tolerance.plain = static_cast<uint8_t>(std::min<size_t>(plain[i], kAnyPlain));
    // Any escape is written for states with a single target only.
    tolerance.json = is_json && any[i] == kNever && only_target(i) == static_cast<int32_t>(i);
    tolerance.text = !is_json && any[i] == kNever;
    tolerance.exact = counted_ ? only_target(i) == static_cast<int32_t>(i) : longest[i] == tolerance.plain;
  }
}

}  // namespace orfebre::automaton
