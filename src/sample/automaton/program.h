// A grammar as an automaton over bytes with a stack: states with edges on bytes, and calls of rules that come
// back. What the compilers of schemas and tool calls make (program_builder.h) and what masks are computed
// from (mask/matcher.h). Immutable, shareable between threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace orfebre::automaton {

using StateId = uint32_t;
using RuleId = uint32_t;

// Symbols: bytes 0 to 255, then the grammar's control tokens.
inline constexpr uint32_t kFirstControl = 256;
inline constexpr RuleId kJump = 0xFFFFFFFF;  // in a call: no rule, go on at `then` at once
inline constexpr int32_t kNoLimit = -1;

// What an edge or call demands of the counter of the rule's activation, which starts at 0.
enum class Action : uint8_t {
  kNone,
  kMore,   // the counter must be below the rule's `most`
  kCount,  // the same, and counts
  kClose,  // the counter must be at least the rule's `least`
};

struct Edge {
  uint16_t low, high;  // symbols, both inclusive
  StateId target;
  Action action;
};

// Taken without a byte: `rule` begins, and where it ends the caller goes on at `then`.
struct Call {
  RuleId rule;
  StateId then;
  Action action;
};

// Plain characters: 20 to 10FFFF without " and \ and without U+2028 and U+2029, as UTF-8.
inline constexpr uint8_t kAnyPlain = 255;

// What a state is known to accept, whatever the details: whole sets of tokens are then allowed at once.
struct Tolerance {
  uint8_t plain = 0;   // every text of so many plain characters keeps the rule alive; kAnyPlain: any number
  bool json = false;   // so does every text without an unescaped quote that may stand in a JSON string
  bool text = false;   // so does every UTF-8 text without '<'
  bool exact = false;  // no longer plain text does; of a rule that counts: the counter alone ends it
};

struct State {
  uint32_t first_edge = 0, n_edges = 0;
  uint32_t first_call = 0, n_calls = 0;
  RuleId rule = 0;
  bool is_final = false;  // the rule may end here
  Tolerance tolerance;
};

struct Rule {
  StateId start = 0;
  int32_t least = 0;
  int32_t most = kNoLimit;
};

struct Program {
  std::vector<State> states;
  std::vector<Edge> edges;  // of a state: sorted, disjoint
  std::vector<Call> calls;
  std::vector<Rule> rules;
  RuleId root = 0;
  // The token ids of the symbols from kFirstControl on.
  std::vector<int32_t> control_tokens;
  // Symbols of one class are never told apart: [256 + control_tokens.size()] class of a symbol.
  std::vector<uint16_t> symbol_class;
  uint32_t n_classes = 0;
};

}  // namespace orfebre::automaton
