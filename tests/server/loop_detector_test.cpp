// The loop guard's rule: what it must find, at which token, and what it must leave alone.
#include "server/reply/loop_detector.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace orfebre {
namespace {

// The number of tokens after which a loop was found; 0 for none.
size_t found_at(const std::vector<int32_t>& ids) {
  LoopDetector detector;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (detector.push(ids[i])) {
      return i + 1;
    }
  }
  return 0;
}

std::vector<int32_t> random_ids(size_t n, uint32_t seed, int vocab = 1000) {
  std::mt19937 random(seed);
  std::vector<int32_t> ids;
  for (size_t i = 0; i < n; ++i) {
    ids.push_back(static_cast<int32_t>(random() % static_cast<uint32_t>(vocab)));
  }
  return ids;
}

std::vector<int32_t> repeated(const std::vector<int32_t>& unit, size_t n_tokens) {
  std::vector<int32_t> ids;
  for (size_t i = 0; i < n_tokens; ++i) {
    ids.push_back(unit[i % unit.size()]);
  }
  return ids;
}

std::vector<int32_t> bytes_of(const std::string& text) {
  return {text.begin(), text.end()};
}

// The rule itself, over the whole text: the last n tokens have period p.
bool is_loop(const std::vector<int32_t>& ids, size_t size) {
  for (size_t period = 1; period <= LoopDetector::kLongestPeriod; ++period) {
    const size_t least = std::max<size_t>(LoopDetector::kLeastTokens, LoopDetector::kLeastRepeats * period);
    if (size < least) {
      continue;
    }
    bool all = true;
    for (size_t i = size - least + period; i < size && all; ++i) {
      all = ids[i] == ids[i - period];
    }
    if (all) {
      return true;
    }
  }
  return false;
}

TEST(LoopDetector, FindsLoopsOfEveryPeriodAtTheFirstTokenOfTheRule) {
  for (const size_t period : {1, 2, 3, 17, 170, 171, 200, 511, 512}) {
    std::vector<int32_t> ids = random_ids(700, 3);
    const std::vector<int32_t> loop = repeated(random_ids(period, 5, 100000), 4000);
    ids.insert(ids.end(), loop.begin(), loop.end());
    const size_t least = std::max<size_t>(LoopDetector::kLeastTokens, LoopDetector::kLeastRepeats * period);
    EXPECT_EQ(found_at(ids), 700 + least) << "period " << period;
  }
}

TEST(LoopDetector, AgreesWithItsDefinition) {
  // Few different tokens and copied stretches, so that near-loops abound.
  for (uint32_t seed = 0; seed < 6; ++seed) {
    std::mt19937 random(seed);
    std::vector<int32_t> ids = random_ids(40, seed, 2);
    while (ids.size() < 2500) {
      const size_t period = 1 + random() % 30;
      const size_t n = random() % 1400;
      for (size_t i = 0; i < n; ++i) {
        ids.push_back(ids[ids.size() - period]);
      }
      ids.push_back(static_cast<int32_t>(random() % 2));
    }
    size_t expected = 0;
    for (size_t size = 1; size <= ids.size() && expected == 0; ++size) {
      expected = is_loop(ids, size) ? size : 0;
    }
    EXPECT_EQ(found_at(ids), expected) << "seed " << seed;
  }
}

TEST(LoopDetector, ToleratesNoDifference) {
  std::vector<int32_t> ids = repeated(random_ids(100, 1), 20000);
  for (size_t i = 0; i < ids.size(); i += 590) {
    ids[i] = -1;  // in every sixth repeat one other token
  }
  EXPECT_EQ(found_at(ids), 0u);
}

TEST(LoopDetector, ForgetsWhenReset) {
  LoopDetector detector;
  for (int i = 0; i < LoopDetector::kLeastTokens - 1; ++i) {
    EXPECT_FALSE(detector.push(7));
  }
  detector.reset();
  for (int i = 0; i < LoopDetector::kLeastTokens - 1; ++i) {
    EXPECT_FALSE(detector.push(7));
  }
  EXPECT_TRUE(detector.push(7));
}

TEST(LoopDetector, LeavesTablesAndCodeAlone) {
  std::string numbers, table, code, same_rows, csv, rule, steps;
  for (int i = 0; i < 400; ++i) {
    const std::string n = std::to_string(i);
    numbers += n + ", ";
    table += "| " + n + " | yes | no | 0 | 0 | 0 | 0 |\n";
    code += "  registers[" + n + "] = 0;\n";
    csv += "2026-01-01,OK,0.0,0.0,0.0," + n + "\n";
    steps += "Step " + n + ": check the value again and continue.\n";
  }
  for (int i = 0; i < 12; ++i) {
    same_rows += "|   |   |   |   |   |   |   |   |   |\n";  // an empty board
    rule += std::string(80, '=') + "\n";
  }
  for (const std::string& text :
       {numbers, table, code, same_rows, csv, rule, steps, std::string(1000, '-')}) {
    EXPECT_EQ(found_at(bytes_of(text)), 0u) << text.substr(0, 40);
  }
}

}  // namespace
}  // namespace orfebre
