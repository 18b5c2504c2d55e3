#include "sample/automaton/decimal.h"

#include "base/error.h"
#include "sample/automaton/nfa.h"
#include "sample/automaton/regex.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

namespace orfebre::automaton {
namespace {

constexpr size_t kMaxDecimalDigits = 400;
constexpr size_t kMaxBoundDigits = 60;

// Compares magnitudes.
int compare_sizes(const Decimal& a, const Decimal& b) {
  if (a.whole.size() != b.whole.size()) {
    return a.whole.size() < b.whole.size() ? -1 : 1;
  }
  const int whole = a.whole.compare(b.whole);
  return whole != 0 ? whole : a.fraction.compare(b.fraction);
}

// Builds the automaton of the numbers of one sign whose size lies between two bounds. For each count of
// digits before the point the bounds are followed digit by digit while the number still equals one of them.
class RangeBuilder {
 public:
  RangeBuilder(std::optional<Bound> low, std::optional<Bound> high, bool integers)
      : low_(std::move(low)), high_(std::move(high)), integers_(integers) {}

  void build(Nfa& nfa, int32_t start, int32_t accept) {
    nfa_ = &nfa;
    accept_ = accept;
    const size_t longest = std::max<size_t>(
        {kMaxIntegerDigits, low_ ? low_->value.whole.size() : 0, high_ ? high_->value.whole.size() : 0});
    for (size_t n = 1; n <= longest; ++n) {
      const bool too_small = low_ && low_->value.whole.size() > n;
      const bool too_large = high_ && std::max<size_t>(high_->value.whole.size(), 1) < n;
      if (!too_small && !too_large) {
        const bool follows_high = high_ && std::max<size_t>(high_->value.whole.size(), 1) == n;
        nfa.add_empty(start, digit_state({static_cast<int>(n), 0, low_.has_value(), follows_high}));
      }
    }
  }

 private:
  struct Place {
    int n_whole;   // digits before the point
    int position;  // digits read
    bool follows_low, follows_high;
    auto key() const {
      // Free of both bounds only what is still to come counts.
      const bool is_free = !follows_low && !follows_high;
      const bool in_fraction = position >= n_whole;
      const int to_come = in_fraction ? 1000 + position - n_whole : n_whole - position;
      const bool is_first = position == 0 && n_whole > 1;
      return is_free ? std::tuple(-1, to_come, is_first, false)
                     : std::tuple(n_whole * 2 + (follows_low ? 1 : 0), position, true, follows_high);
    }
  };

  static int digit_at(const Decimal& value, const Place& place) {
    const auto missing = place.n_whole - static_cast<int>(value.whole.size());
    if (place.position < place.n_whole) {
      return place.position < missing ? 0 : value.whole[static_cast<size_t>(place.position - missing)] - '0';
    }
    const auto behind = static_cast<size_t>(place.position - place.n_whole);
    return behind < value.fraction.size() ? value.fraction[behind] - '0' : 0;
  }

  // Whether digits other than 0 remain in the bound's fraction.
  static bool has_more(const Decimal& value, const Place& place) {
    return static_cast<int>(value.fraction.size()) > place.position - place.n_whole;
  }

  bool may_end(const Place& place) const {
    const bool low_ok = !place.follows_low || (!has_more(low_->value, place) && !low_->exclusive);
    const bool high_ok = !place.follows_high || has_more(high_->value, place) || !high_->exclusive;
    return low_ok && high_ok;
  }

  // The state before the digit at `place`.
  int32_t digit_state(const Place& place) {
    const auto [found, is_new] = states_.emplace(place.key(), 0);
    if (!is_new) {
      return found->second;
    }
    const int32_t state = nfa_->add_state();
    found->second = state;
    const int least = place.position == 0 && place.n_whole > 1 ? 1 : 0;
    const int low = place.follows_low ? std::max(least, digit_at(low_->value, place)) : least;
    const int high = place.follows_high ? digit_at(high_->value, place) : 9;
    for (int digit = low; digit <= high; ++digit) {
      Place next = place;
      ++next.position;
      next.follows_low = place.follows_low && digit == digit_at(low_->value, place);
      next.follows_high = place.follows_high && digit == digit_at(high_->value, place);
      const auto c = static_cast<uint32_t>('0' + digit);
      nfa_->add_edge(state, {{c, c}}, after_digit(next));
    }
    return state;
  }

  // The state behind a digit: the number may end, or go on.
  int32_t after_digit(const Place& place) {
    if (place.position < place.n_whole) {
      return digit_state(place);
    }
    const auto [found, is_new] = behind_.emplace(place.key(), 0);
    if (!is_new) {
      return found->second;
    }
    const int32_t state = nfa_->add_state();
    found->second = state;
    if (may_end(place)) {
      nfa_->add_empty(state, accept_);
    }
    if (integers_ || place.position - place.n_whole >= kMaxFractionDigits + extra_digits()) {
      return state;
    }
    const int32_t digit = digit_state(place);
    if (place.position == place.n_whole) {
      nfa_->add_edge(state, {{'.', '.'}}, digit);
    } else {
      nfa_->add_empty(state, digit);
    }
    return state;
  }

  // A bound with a long fraction needs room behind it.
  int extra_digits() const {
    const auto of = [](const std::optional<Bound>& b) {
      return b ? static_cast<int>(b->value.fraction.size()) : 0;
    };
    return std::max(of(low_), of(high_));
  }

  const std::optional<Bound> low_, high_;
  const bool integers_;
  Nfa* nfa_ = nullptr;
  int32_t accept_ = 0;
  using Key = std::tuple<int, int, bool, bool>;
  std::map<Key, int32_t> states_, behind_;
};

void require_digits(const std::optional<Bound>& bound) {
  if (bound && bound->value.whole.size() + bound->value.fraction.size() > kMaxBoundDigits) {
    fail(ErrorKind::kUnsupported, "too large: a bound of more than {} digits", kMaxBoundDigits);
  }
}

std::optional<Bound> negated(std::optional<Bound> bound) {
  if (bound) {
    bound->value.negative = false;  // of a bound below zero: its size
  }
  return bound;
}

}  // namespace

std::string Decimal::text() const {
  return (negative ? "-" : "") + (whole.empty() ? "0" : whole) + (fraction.empty() ? "" : "." + fraction);
}

std::optional<Decimal> parse_decimal(std::string_view text) {
  Decimal value;
  if (text.starts_with('-')) {
    value.negative = true;
    text.remove_prefix(1);
  }
  int exponent = 0;
  if (const size_t e = text.find_first_of("eE"); e != std::string_view::npos) {
    std::string_view digits = text.substr(e + 1);
    digits.remove_prefix(digits.starts_with('+') ? 1 : 0);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (error != std::errc() || exponent > 1000 || exponent < -1000) {
      return std::nullopt;
    }
    text = text.substr(0, e);
  }
  const size_t point = std::min(text.find('.'), text.size());
  std::string digits(text.substr(0, point));
  if (point < text.size()) {
    digits += text.substr(point + 1);
  }
  int64_t n_whole = static_cast<int64_t>(point) + exponent;
  if (n_whole < 0) {
    digits.insert(0, static_cast<size_t>(-n_whole), '0');
    n_whole = 0;
  }
  if (static_cast<size_t>(n_whole) > digits.size()) {
    digits.append(static_cast<size_t>(n_whole) - digits.size(), '0');
  }
  value.whole = digits.substr(0, static_cast<size_t>(n_whole));
  value.fraction = digits.substr(static_cast<size_t>(n_whole));
  value.whole.erase(0, value.whole.find_first_not_of('0'));
  value.fraction.erase(value.fraction.find_last_not_of('0') + 1);
  value.negative = value.negative && !value.is_zero();
  if (value.whole.size() + value.fraction.size() > kMaxDecimalDigits) {
    return std::nullopt;
  }
  return value;
}

int compare(const Decimal& a, const Decimal& b) {
  if (a.negative != b.negative) {
    return a.negative ? -1 : 1;
  }
  return a.negative ? compare_sizes(b, a) : compare_sizes(a, b);
}

CharDfa number_range(const std::optional<Bound>& low, const std::optional<Bound>& high, bool integers) {
  require_digits(low);
  require_digits(high);
  Nfa nfa;
  const int32_t start = nfa.add_state(), accept = nfa.add_state();
  if (!(high && high->value.negative)) {
    const bool from_zero = low && !low->value.negative;
    RangeBuilder(from_zero ? low : std::nullopt, high, integers).build(nfa, start, accept);
  }
  if (!(low && !low->value.negative)) {
    const int32_t minus = nfa.add_state();
    nfa.add_edge(start, {{'-', '-'}}, minus);
    const bool below_zero = high && high->value.negative;
    const Bound above_zero{{}, true};
    RangeBuilder(below_zero ? negated(high) : above_zero, negated(low), integers).build(nfa, minus, accept);
  }
  return nfa.determinized(start, accept);
}

CharDfa any_number() {
  static const CharDfa dfa = regex_dfa("^-?(0|[1-9][0-9]{0,19})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?$");
  return dfa;
}

// A state a remainder of what has been read: 0 start, 1 behind the minus, 2 behind a leading zero, then the
// remainders.
CharDfa multiples_of(int divisor) {
  constexpr int32_t kRemainders = 3;
  const auto digit_edge = [&](int digit, int remainder) {
    const auto c = static_cast<uint32_t>('0' + digit);
    return CharEdge{c, c, kRemainders + (remainder * 10 + digit) % divisor};
  };
  CharDfa dfa;
  CharState first{{{'0', '0', 2}}, false};
  for (int digit = 1; digit <= 9; ++digit) {
    first.edges.push_back(digit_edge(digit, 0));
  }
  CharState start = first;
  start.edges.insert(start.edges.begin(), {'-', '-', 1});
  dfa.states = {start, first, CharState{{}, true}};
  for (int remainder = 0; remainder < divisor; ++remainder) {
    CharState state{{}, remainder == 0};
    for (int digit = 0; digit <= 9; ++digit) {
      state.edges.push_back(digit_edge(digit, remainder));
    }
    dfa.states.push_back(std::move(state));
  }
  return dfa;
}

CharDfa at_most_fraction_digits(int n_digits) {
  const std::string fraction = n_digits == 0 ? "" : fmt::format("(\\.[0-9]{{1,{}}})?", n_digits);
  return regex_dfa("^-?(0|[1-9][0-9]*)" + fraction + "$");
}

}  // namespace orfebre::automaton
