// Regular expressions against PCRE's behaviour written down as cases, ranges of numbers against arithmetic.
#include "base/error.h"
#include "sample/automaton/decimal.h"
#include "sample/automaton/regex.h"

#include <gtest/gtest.h>

#include <random>
#include <regex>
#include <string>

namespace orfebre::automaton {
namespace {

ErrorKind refusal(const std::string& pattern) {
  try {
    regex_dfa(pattern);
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "accepted: " << pattern;
  return ErrorKind::kInternal;
}

TEST(Regex, AgreesWithTheStandardLibraryOnRandomTexts) {
  const char* const patterns[] = {
      "^[a-c]+$",    "ab",    "^(a|bc)*$",     "^a{2,3}b?$",    "a.c",       "^[^ab]*$",       "^$",
      "(ab|c)$",     "^a|b$", "[ab]{2}c{0,1}", "^(?:a+b){2,}c", "^a*?b+?c$", "^[a\\-c]{1,4}$", "^\\w\\d?\\W$",
      "^\\(a\\)|b$", "x{0}a", "^(a{0,2}b)*$",  "c(a|)b",        "^[\\d_]+$", "^.{3}$"};
  std::mt19937 random(7);
  int n_found = 0;
  for (const char* pattern : patterns) {
    const CharDfa dfa = regex_dfa(pattern);
    const std::regex reference(pattern, std::regex::ECMAScript);
    for (int i = 0; i < 3000; ++i) {
      std::string text;
      for (size_t n = random() % 7; n > 0; --n) {
        text += "abcab() -_12x"[random() % 13];
      }
      const bool expected = std::regex_search(text, reference);
      ASSERT_EQ(accepts(dfa, text), expected) << pattern << " and '" << text << "'";
      n_found += expected ? 1 : 0;
    }
  }
  EXPECT_GT(n_found, 5000);
}

TEST(Regex, ReadsUnicode) {
  const CharDfa dfa = regex_dfa("^[\xC3\xA0-\xC3\xBF]\\u{1F600}\\u00e9?.$");
  EXPECT_TRUE(accepts(dfa, "\xC3\xA9\xF0\x9F\x98\x80\xE2\x82\xAC"));
  EXPECT_TRUE(accepts(dfa, "\xC3\xA9\xF0\x9F\x98\x80\xC3\xA9x"));
  EXPECT_FALSE(accepts(dfa, "e\xF0\x9F\x98\x80x"));
  EXPECT_FALSE(accepts(dfa, "\xC3\xA9\xF0\x9F\x98\x81x"));
  EXPECT_FALSE(accepts(dfa, "\xC3\xA9\xF0\x9F\x98\x80\n"));
}

TEST(Regex, RefusesWhatIsWrongOrNotRegular) {
  for (const char* wrong :
       {"(", ")", "a)", "[a", "*a", "a**", "a{3,2}", "\\", "[z-a]", "\\x1", "(?<n", "\\y"}) {
    EXPECT_EQ(refusal(wrong), ErrorKind::kInvalidRequest) << wrong;
  }
  for (const char* beyond : {"(?=a)", "(?!a)", "(?<=a)", "(a)\\1", "\\bword", "\\p{L}", "\\k<n>", "a{5000}",
                             "((((a{99}){99}){99}){99})", "(a|b)*a(a|b){18}"}) {
    EXPECT_EQ(refusal(beyond), ErrorKind::kUnsupported) << beyond;
  }
}

TEST(CharDfa, CombinesLanguages) {
  const CharDfa words = regex_dfa("^[a-z]{1,5}$");
  const CharDfa without =
      intersection(words, complement(of_texts(std::vector<std::string>{"ab", "abc", "zz"})));
  EXPECT_TRUE(accepts(without, "a"));
  EXPECT_TRUE(accepts(without, "abcd"));
  EXPECT_FALSE(accepts(without, "abc"));
  EXPECT_FALSE(accepts(without, "zz"));
  EXPECT_FALSE(accepts(without, ""));
  const CharDfa exact = with_length(any_text(), 2, 3);
  EXPECT_TRUE(accepts(exact, "\xF0\x9F\x98\x80\xC3\xA9"));
  EXPECT_FALSE(accepts(exact, "a"));
  EXPECT_FALSE(accepts(exact, "abcd"));
  EXPECT_TRUE(intersection(regex_dfa("^a"), regex_dfa("^b")).empty());
  EXPECT_EQ(reduced(regex_dfa("^(a|b|c|d)*$")).states.size(), 1U);
}

std::string scaled(int64_t thousandths) {
  const int64_t size = std::abs(thousandths);
  std::string text = fmt::format("{}{}.{:03}", thousandths < 0 ? "-" : "", size / 1000, size % 1000);
  text.erase(text.find_last_not_of('0') + 1);
  text.erase(text.find_last_not_of('.') + 1);
  return text;
}

// Bounds and numbers in thousandths: what integers say is the reference.
TEST(Decimal, RangesAgreeWithArithmetic) {
  std::mt19937_64 random(11);
  const auto number = [&]() -> int64_t {
    const int64_t size[] = {5, 50, 3'000, 2'000'000, 40'000'000};
    const int64_t most = size[random() % 5];
    const int64_t value = static_cast<int64_t>(random() % static_cast<uint64_t>(2 * most + 1)) - most;
    return random() % 3 == 0 ? value / 1000 * 1000 : value;
  };
  int n_inside = 0, n_outside = 0;
  for (int round = 0; round < 400; ++round) {
    const bool has_low = random() % 4 != 0, has_high = random() % 4 != 0, integers = random() % 2 == 0;
    const bool open_low = random() % 2 == 0, open_high = random() % 2 == 0;
    const int64_t low = number(), high = number();
    const auto bound = [](bool is_there, int64_t value, bool open) {
      return is_there ? std::optional<Bound>({*parse_decimal(scaled(value)), open}) : std::nullopt;
    };
    const CharDfa dfa =
        number_range(bound(has_low, low, open_low), bound(has_high, high, open_high), integers);
    for (int i = 0; i < 200; ++i) {
      const int64_t near[] = {low, high, number()};
      const int64_t value = near[random() % 3] + static_cast<int64_t>(random() % 5) - 2;
      const bool expected = (!has_low || value > low || (value == low && !open_low)) &&
                            (!has_high || value < high || (value == high && !open_high)) &&
                            (!integers || value % 1000 == 0);
      ASSERT_EQ(accepts(dfa, scaled(value)), expected)
          << scaled(value) << " of " << (has_low ? scaled(low) : "-") << (open_low ? " ( " : " [ ")
          << (has_high ? scaled(high) : "-") << (open_high ? " )" : " ]") << (integers ? " integers" : "");
      (expected ? n_inside : n_outside) += 1;
      if (expected && !integers) {  // trailing zeros change nothing
        ASSERT_TRUE(accepts(dfa, scaled(value) + (value % 1000 == 0 ? ".00" : "0")));
      }
    }
  }
  EXPECT_GT(n_inside, 10'000);
  EXPECT_GT(n_outside, 10'000);
}

TEST(Decimal, NumbersAreJson) {
  for (const CharDfa& dfa : {any_number(), number_range(std::nullopt, std::nullopt, false)}) {
    for (const char* good : {"0", "-1", "10", "0.5", "-0.25", "123456789.125"}) {
      EXPECT_TRUE(accepts(dfa, good)) << good;
    }
    for (const char* bad : {"", "-", "01", "+1", ".5", "1.", "1e", "--1", "0x1", "1,5", " 1", "1 "}) {
      EXPECT_FALSE(accepts(dfa, bad)) << bad;
    }
  }
}

TEST(Decimal, Multiples) {
  for (const int divisor : {1, 2, 7, 10, 13}) {
    const CharDfa dfa = multiples_of(divisor);
    for (int value = -300; value <= 300; ++value) {
      EXPECT_EQ(accepts(dfa, std::to_string(value)), value % divisor == 0) << value << " by " << divisor;
    }
  }
  EXPECT_TRUE(accepts(at_most_fraction_digits(2), "1.25"));
  EXPECT_FALSE(accepts(at_most_fraction_digits(2), "1.255"));
}

TEST(Decimal, ParsesExactly) {
  EXPECT_EQ(parse_decimal("-12.50e1")->text(), "-125");
  EXPECT_EQ(parse_decimal("5e-3")->text(), "0.005");
  EXPECT_EQ(parse_decimal("-0.0")->text(), "0");
  EXPECT_FALSE(parse_decimal("1e999").has_value());
  EXPECT_LT(compare(*parse_decimal("-2.1"), *parse_decimal("-2")), 0);
  EXPECT_GT(compare(*parse_decimal("10"), *parse_decimal("9.99")), 0);
  EXPECT_EQ(compare(*parse_decimal("1.0"), *parse_decimal("1")), 0);
}

}  // namespace
}  // namespace orfebre::automaton
