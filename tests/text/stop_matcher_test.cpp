// Stop strings against the definition: search in the whole text.
#include "text/stop_matcher.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace orfebre::text {
namespace {

struct Outcome {
  std::string text;
  int stop_index = -1;
  bool operator==(const Outcome&) const = default;
};

// The definition: the first end wins, then the longest.
Outcome by_definition(const std::string& text, const std::vector<std::string>& stops) {
  for (size_t end = 1; end <= text.size(); ++end) {
    int best = -1;
    for (size_t s = 0; s < stops.size(); ++s) {
      const bool ends_here = !stops[s].empty() && text.substr(0, end).ends_with(stops[s]);
      if (ends_here && (best < 0 || stops[s].size() > stops[static_cast<size_t>(best)].size())) {
        best = static_cast<int>(s);
      }
    }
    if (best >= 0) {
      return {text.substr(0, end - stops[static_cast<size_t>(best)].size()), best};
    }
  }
  return {text, -1};
}

TEST(StopMatcher, AgreesWithTheDefinitionForAnyChunks) {
  std::mt19937 random(6);
  const auto word = [&](size_t most) {
    std::string out;
    for (size_t n = random() % (most + 1); n > 0; --n) {
      out += "ab\n"[random() % 3];
    }
    return out;
  };
  int n_stopped = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::string> stops;
    for (size_t n = random() % 4; n > 0; --n) {
      stops.push_back(word(6));
    }
    const std::string text = word(30);
    StopMatcher matcher(stops);
    Outcome outcome;
    for (size_t pos = 0; pos < text.size();) {
      const size_t size = std::min<size_t>(1 + random() % 4, text.size() - pos);
      const auto result = matcher.push(std::string_view(text).substr(pos, size));
      outcome.text += result.text;
      if (result.stop_index >= 0) {
        outcome.stop_index = result.stop_index;
      }
      pos += size;
    }
    outcome.text += matcher.flush();
    n_stopped += matcher.stopped();
    ASSERT_EQ(outcome, by_definition(text, stops)) << text;
    ASSERT_EQ(matcher.stopped(), outcome.stop_index >= 0);
  }
  EXPECT_GT(n_stopped, 5000);
}

TEST(StopMatcher, HoldsBackOnlyAPossibleBeginning) {
  const std::vector<std::string> stops = {"\n\nUser:"};
  StopMatcher matcher(stops);
  EXPECT_EQ(matcher.push("Hello\n").text, "Hello");
  EXPECT_EQ(matcher.push("\n").text, "");
  EXPECT_EQ(matcher.push("\n").text, "\n");
  EXPECT_EQ(matcher.push("Use").text, "");
  EXPECT_EQ(matcher.push("less").text, "\n\nUseless");
  EXPECT_EQ(matcher.push("\n\nUser").text, "");
  const auto found = matcher.push(": hi");
  EXPECT_EQ(found.text, "");
  EXPECT_EQ(found.stop_index, 0);
  EXPECT_TRUE(matcher.stopped());
  EXPECT_EQ(matcher.push("more").text, "");
  EXPECT_EQ(matcher.flush(), "");
}

TEST(StopMatcher, WithoutStopStringsEverythingPasses) {
  const std::vector<std::string> none, empty = {""};
  for (const auto& stops : {none, empty}) {
    StopMatcher matcher(stops);
    EXPECT_TRUE(matcher.empty());
    EXPECT_EQ(matcher.push("abc").text, "abc");
    EXPECT_EQ(matcher.flush(), "");
  }
}

}  // namespace
}  // namespace orfebre::text
