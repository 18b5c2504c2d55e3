// Numbers as JSON writes them, and automata of the numbers within bounds, digit by digit: exact, however many
// digits a bound has.
#pragma once

#include "sample/automaton/char_dfa.h"

#include <optional>
#include <string>
#include <string_view>

namespace orfebre::automaton {

// What a number may have, lest a model write digits for ever: before the point, and behind it.
inline constexpr int kMaxIntegerDigits = 20;
inline constexpr int kMaxFractionDigits = 20;

struct Decimal {
  bool negative = false;  // never for zero
  std::string whole;      // digits before the point, no leading zeros; empty for 0
  std::string fraction;   // digits behind it, no trailing zeros

  bool is_zero() const { return whole.empty() && fraction.empty(); }
  bool is_integer() const { return fraction.empty(); }
  std::string text() const;
  bool operator==(const Decimal&) const = default;
};

// A JSON number's text. nullopt when it needs more than 400 digits.
std::optional<Decimal> parse_decimal(std::string_view json_number);
// < 0, 0, > 0
int compare(const Decimal& a, const Decimal& b);

struct Bound {
  Decimal value;
  bool exclusive = false;
};

// Numbers between the bounds, written without an exponent; with `integers` without a fraction too.
// Throws Error (kUnsupported) for a bound of more than 60 digits.
CharDfa number_range(const std::optional<Bound>& low, const std::optional<Bound>& high, bool integers);
// Any number; exponents of at most two digits.
CharDfa any_number();
// Integers divisible by 1 <= divisor <= 10,000.
CharDfa multiples_of(int divisor);
// Numbers with at most so many digits behind the point.
CharDfa at_most_fraction_digits(int n_digits);

}  // namespace orfebre::automaton
