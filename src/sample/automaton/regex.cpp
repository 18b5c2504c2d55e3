#include "sample/automaton/regex.h"

#include "base/error.h"
#include "sample/automaton/nfa.h"

#include <algorithm>
#include <optional>

namespace orfebre::automaton {
namespace {

constexpr int kMaxDepth = 100;
constexpr int kMaxRepeat = 2'000;
constexpr size_t kMaxNfaStates = 50'000;

const CharSet& digits() {
  static const CharSet set{{'0', '9'}};
  return set;
}

const CharSet& word_characters() {
  static const CharSet set{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
  return set;
}

const CharSet& spaces() {
  static const CharSet set{{9, 13},          {32, 32},         {0xA0, 0xA0},     {0x1680, 0x1680},
                           {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F},
                           {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};
  return set;
}

const CharSet& line_breaks() {
  static const CharSet set{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};
  return set;
}

// Part of the automaton between two states.
struct Piece {
  int32_t first, last;
};

// Recursive descent; each part is read once and its automaton built at once. A counted repetition reads its
// part again for every copy.
class Parser {
 public:
  explicit Parser(std::string_view pattern) : chars_(decode_utf8(pattern)) {}

  CharDfa run() {
    const Piece body = alternatives();
    if (at_ < chars_.size()) {
      wrong("a ) without its (");
    }
    const int32_t start = state(), end = state();
    nfa_.add_edge(start, CharSet::any(), start);
    nfa_.add_edge(end, CharSet::any(), end);
    nfa_.add_empty(start, body.first);
    nfa_.add_empty(body.last, end);
    // What follows an end of the text is its end: `end` loops over nothing then.
    return nfa_.determinized(start, end);
  }

 private:
  [[noreturn]] static void wrong(std::string_view what) {
    fail(ErrorKind::kInvalidRequest, "not a regular expression: {}", what);
  }
  [[noreturn]] static void beyond(std::string_view what) {
    fail(ErrorKind::kUnsupported, "{} in a regular expression", what);
  }

  int32_t state() {
    if (nfa_.n_states() > kMaxNfaStates) {
      fail(ErrorKind::kUnsupported, "too large: a regular expression of more than {} parts", kMaxNfaStates);
    }
    return nfa_.add_state();
  }
  Piece nothing() {
    const int32_t only = state();
    return {only, only};
  }
  Piece one_of(const CharSet& set) {
    const Piece piece{state(), state()};
    nfa_.add_edge(piece.first, set, piece.last);
    return piece;
  }
  Piece when(Nfa::When when) {
    const Piece piece{state(), state()};
    nfa_.add_empty(piece.first, piece.last, when);
    return piece;
  }

  bool more() const { return at_ < chars_.size(); }
  bool next_is(uint32_t c) const { return more() && chars_[at_] == c; }
  bool take(uint32_t c) {
    if (!next_is(c)) {
      return false;
    }
    ++at_;
    return true;
  }
  uint32_t need(std::string_view where) {
    if (!more()) {
      fail(ErrorKind::kInvalidRequest, "not a regular expression: it ends inside {}", where);
    }
    return chars_[at_++];
  }

  Piece alternatives() {
    if (++depth_ > kMaxDepth) {
      fail(ErrorKind::kUnsupported, "too large: a regular expression nested deeper than {}", kMaxDepth);
    }
    const Piece all{state(), state()};
    do {
      const Piece piece = sequence();
      nfa_.add_empty(all.first, piece.first);
      nfa_.add_empty(piece.last, all.last);
    } while (take('|'));
    --depth_;
    return all;
  }

  Piece sequence() {
    Piece all = nothing();
    while (more() && !next_is('|') && !next_is(')')) {
      const Piece piece = quantified();
      nfa_.add_empty(all.last, piece.first);
      all.last = piece.last;
    }
    return all;
  }

  struct Repeat {
    int low = 1, high = 1;  // high < 0: no limit
  };

  Piece quantified() {
    const size_t begin = at_;
    const Piece once = atom();
    const size_t end = at_;
    const std::optional<Repeat> repeat = quantifier();
    if (!repeat) {
      return once;
    }
    const size_t behind = at_;
    const auto copy = [&] {
      at_ = begin;
      const Piece piece = atom();
      ORFEBRE_CHECK(at_ == end);
      return piece;
    };
    Piece all = nothing();
    bool is_first = true;
    const auto next = [&] { return std::exchange(is_first, false) ? once : copy(); };
    for (int i = 0; i < repeat->low; ++i) {
      const Piece piece = next();
      nfa_.add_empty(all.last, piece.first);
      all.last = piece.last;
    }
    const int32_t out = state();
    if (repeat->high < 0) {
      const Piece piece = next();
      nfa_.add_empty(all.last, piece.first);
      nfa_.add_empty(piece.last, piece.first);
      nfa_.add_empty(piece.last, out);
    }
    for (int i = repeat->low; i < repeat->high; ++i) {
      const Piece piece = next();
      nfa_.add_empty(all.last, out);
      nfa_.add_empty(all.last, piece.first);
      all.last = piece.last;
    }
    nfa_.add_empty(all.last, out);
    at_ = behind;
    return {all.first, out};
  }

  std::optional<Repeat> quantifier() {
    Repeat repeat;
    if (take('*')) {
      repeat = {0, -1};
    } else if (take('+')) {
      repeat = {1, -1};
    } else if (take('?')) {
      repeat = {0, 1};
    } else if (!next_is('{') || !braces(repeat)) {
      return std::nullopt;
    }
    take('?');  // reluctant or not: the same texts
    if (next_is('*') || next_is('+') || next_is('?')) {
      wrong("a quantifier behind a quantifier");
    }
    return repeat;
  }

  // "{2}", "{2,}", "{2,5}"; anything else is text.
  bool braces(Repeat& repeat) {
    size_t at = at_ + 1;
    const auto number = [&]() -> int {
      if (at >= chars_.size() || chars_[at] < '0' || chars_[at] > '9') {
        return -1;
      }
      int value = 0;
      for (; at < chars_.size() && chars_[at] >= '0' && chars_[at] <= '9'; ++at) {
        value = std::min(value * 10 + static_cast<int>(chars_[at] - '0'), kMaxRepeat + 1);
      }
      return value;
    };
    repeat.low = number();
    if (repeat.low < 0) {
      return false;
    }
    repeat.high = repeat.low;
    if (at < chars_.size() && chars_[at] == ',') {
      ++at;
      repeat.high = number();
    }
    if (at >= chars_.size() || chars_[at] != '}') {
      return false;
    }
    at_ = at + 1;
    if (repeat.low > kMaxRepeat || repeat.high > kMaxRepeat) {
      fail(ErrorKind::kUnsupported, "too large: more than {} repeats in a regular expression", kMaxRepeat);
    }
    if (repeat.high >= 0 && repeat.high < repeat.low) {
      wrong("a quantifier whose numbers are out of order");
    }
    return true;
  }

  Piece atom() {
    const uint32_t c = need("a part");
    switch (c) {
      case '(': return group();
      case '[': return one_of(char_class());
      case '.': return one_of(line_breaks().complement());
      case '^': return when(Nfa::When::kAtBegin);
      case '$': return when(Nfa::When::kAtEnd);
      case '\\': return one_of(escape(false));
      case '*':
      case '+':
      case '?': wrong("a quantifier with nothing before it");
      default: return one_of({{c, c}});
    }
  }

  Piece group() {
    if (take('?')) {
      const uint32_t kind = need("a group");
      const bool is_named = kind == '<' && more() && chars_[at_] != '=' && chars_[at_] != '!';
      if (is_named) {
        while (need("a group's name") != '>') {
        }
      } else if (kind != ':') {
        beyond("look-around");
      }
    }
    const Piece inner = alternatives();
    if (!take(')')) {
      wrong("a ( without its )");
    }
    return inner;
  }

  uint32_t hex(int n_digits) {
    uint32_t value = 0;
    for (int i = 0; i < n_digits; ++i) {
      const uint32_t c = need("an escape");
      const uint32_t lower = c | 0x20;
      const bool is_digit = c >= '0' && c <= '9';
      if (!is_digit && !(lower >= 'a' && lower <= 'f')) {
        wrong("an escape without its hexadecimal digits");
      }
      value = value * 16 + (is_digit ? c - '0' : lower - 'a' + 10);
    }
    return value;
  }

  uint32_t code_point() {
    if (!take('{')) {
      const uint32_t value = hex(4);
      const bool is_high = value >= 0xD800 && value < 0xDC00;
      if (is_high && at_ + 1 < chars_.size() && chars_[at_] == '\\' && chars_[at_ + 1] == 'u') {
        at_ += 2;
        return 0x10000 + ((value - 0xD800) << 10) + ((hex(4) - 0xDC00) & 0x3FF);
      }
      return value;
    }
    uint32_t value = 0;
    while (!next_is('}')) {
      value = std::min(value * 16 + hex(1), kLastChar + 1);
    }
    ++at_;
    return value;
  }

  CharSet escape(bool in_class) {
    const uint32_t c = need("an escape");
    switch (c) {
      case 'd': return digits();
      case 'D': return digits().complement();
      case 'w': return word_characters();
      case 'W': return word_characters().complement();
      case 's': return spaces();
      case 'S': return spaces().complement();
      case 'n': return {{'\n', '\n'}};
      case 't': return {{'\t', '\t'}};
      case 'r': return {{'\r', '\r'}};
      case 'f': return {{'\f', '\f'}};
      case 'v': return {{'\v', '\v'}};
      case '0': return {{0, 0}};
      case 'x': return single(hex(2));
      case 'u': return single(code_point());
      case 'c': return single(need("an escape") & 31);
      case 'b':
        if (in_class) {
          return {{'\b', '\b'}};
        }
        [[fallthrough]];
      case 'B': beyond("\\b or \\B");
      case 'p':
      case 'P': beyond("\\p");
      case 'k': beyond("a back reference");
      default: break;
    }
    if (c >= '1' && c <= '9') {
      beyond("a back reference");
    }
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      wrong("an unknown escape");
    }
    return single(c);
  }

  static CharSet single(uint32_t c) { return {{c, c}}; }

  CharSet char_class() {
    const bool is_negative = take('^');
    CharSet set;
    while (!take(']')) {
      CharSet low = class_member();
      const bool is_range = next_is('-') && at_ + 1 < chars_.size() && chars_[at_ + 1] != ']';
      if (!is_range) {
        set.add(low);
        continue;
      }
      ++at_;
      const CharSet high = class_member();
      const auto is_single = [](const CharSet& s) {
        return s.ranges().size() == 1 && s.ranges()[0].low == s.ranges()[0].high;
      };
      if (!is_single(low) || !is_single(high)) {
        set.add(low);
        set.add(high);
        set.add('-', '-');
      } else if (low.ranges()[0].low > high.ranges()[0].low) {
        wrong("a class whose range is out of order");
      } else {
        set.add(low.ranges()[0].low, high.ranges()[0].low);
      }
    }
    return is_negative ? set.complement() : set;
  }

  CharSet class_member() {
    const uint32_t c = need("a class");
    return c == '\\' ? escape(true) : single(c);
  }

  std::vector<uint32_t> chars_;
  size_t at_ = 0;
  int depth_ = 0;
  Nfa nfa_;
};

}  // namespace

CharDfa regex_dfa(std::string_view pattern) {
  return Parser(pattern).run();
}

}  // namespace orfebre::automaton
