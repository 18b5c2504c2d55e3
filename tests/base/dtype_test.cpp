// The 16-bit formats against definitions written another way: every bit pattern, and rounding by search.
#include "base/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace orfebre {
namespace {

// The value of an f16 pattern from its definition: sign, 5 exponent bits, 10 fraction bits.
double f16_by_definition(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 31) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * HUGE_VAL;
  }
  return exponent == 0 ? sign * std::ldexp(fraction, -24) : sign * std::ldexp(1024 + fraction, exponent - 25);
}

TEST(F16, EveryPatternHasItsValue) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto pattern = static_cast<uint16_t>(bits);
    const double expected = f16_by_definition(pattern);
    const float found = to_f32(f16{pattern});
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(found)) << bits;
    } else {
      EXPECT_EQ(static_cast<double>(found), expected) << bits;
      EXPECT_EQ(std::signbit(found), (bits & 0x8000) != 0) << bits;
    }
  }
}

TEST(F16, EveryFinitePatternSurvivesARoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = to_f32(f16{static_cast<uint16_t>(bits)});
    if (!std::isnan(value)) {
      EXPECT_EQ(to_f16(value).bits, bits);
    }
  }
}

// Nearest, ties to the even pattern, found among the two neighbours by comparing distances in double.
TEST(F16, RoundsToNearestEven) {
  std::mt19937 random(11);
  std::uniform_int_distribution<uint32_t> positive(0, 0x7bfe);
  std::uniform_real_distribution<double> between(0.0, 1.0);
  for (int i = 0; i < 200000; ++i) {
    const auto low = static_cast<uint16_t>(positive(random));
    const auto high = static_cast<uint16_t>(low + 1);
    const double a = f16_by_definition(low);
    const double b = f16_by_definition(high);
    const double share = i % 8 == 0 ? 0.5 : between(random);
    const auto value = static_cast<float>(a + (b - a) * share);
    const double to_low = static_cast<double>(value) - a;
    const double to_high = b - static_cast<double>(value);
    const uint16_t expected = to_low < to_high ? low : to_high < to_low ? high : (low % 2 == 0 ? low : high);
    ASSERT_EQ(to_f16(value).bits, expected) << value;
    ASSERT_EQ(to_f16(-value).bits, expected | 0x8000) << value;
  }
}

TEST(F16, OverflowsToInfinityAndKeepsNaN) {
  EXPECT_EQ(to_f16(65519.0f).bits, 0x7bff);
  EXPECT_EQ(to_f16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(to_f16(-1e30f).bits, 0xfc00);
  EXPECT_TRUE(std::isnan(to_f32(to_f16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(Bf16, RoundsToNearestEven) {
  std::mt19937 random(12);
  std::uniform_int_distribution<uint32_t> any(0, 0x7f7fffff);
  for (int i = 0; i < 200000; ++i) {
    const uint32_t bits = i % 8 == 0 ? (any(random) & 0xffff0000u) | 0x8000u : any(random);
    const auto value = std::bit_cast<float>(bits);
    const float low = std::bit_cast<float>(bits & 0xffff0000u);
    const double step = static_cast<double>(std::bit_cast<float>((bits & 0xffff0000u) + 0x10000u)) - low;
    if (!std::isfinite(step)) {
      continue;
    }
    const double share = (static_cast<double>(value) - low) / step;
    const uint32_t low_pattern = bits >> 16;
    const uint32_t expected = share < 0.5   ? low_pattern
                              : share > 0.5 ? low_pattern + 1
                                            : low_pattern + (low_pattern & 1);
    ASSERT_EQ(to_bf16(value).bits, expected) << value;
    ASSERT_EQ(to_bf16(-value).bits, expected | 0x8000) << value;
  }
}

TEST(Bf16, KeepsNaNAndInfinity) {
  // A NaN whose payload lies only in the dropped bits must not become infinity.
  EXPECT_TRUE(std::isnan(to_f32(to_bf16(std::bit_cast<float>(0x7f800001u)))));
  EXPECT_EQ(to_bf16(std::numeric_limits<float>::infinity()).bits, 0x7f80);
}

}  // namespace
}  // namespace orfebre
