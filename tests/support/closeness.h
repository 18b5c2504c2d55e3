// How far two arrays are apart, in the measure of the fixtures: max|difference| / max|expected|.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace orfebre::test {

// Infinity when the sizes differ or anything is NaN or infinite, so that a comparison with a tolerance fails.
inline double relative_difference(std::span<const float> actual, std::span<const float> expected) {
  if (actual.size() != expected.size() || expected.empty()) {
    return std::numeric_limits<double>::infinity();
  }
  double largest_difference = 0.0;
  double largest_value = 0.0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(static_cast<double>(actual[i]) - static_cast<double>(expected[i]));
    if (!std::isfinite(difference)) {
      return std::numeric_limits<double>::infinity();
    }
    largest_difference = std::fmax(largest_difference, difference);
    largest_value = std::fmax(largest_value, std::abs(static_cast<double>(expected[i])));
  }
  return largest_difference / largest_value;
}

}  // namespace orfebre::test
