// Where states of a prompt are kept.
#include "engine/cache/snapshot_plan.h"

#include "spec/step_header.h"

#include <gtest/gtest.h>

#include <random>

namespace orfebre {
namespace {

std::vector<int> positions(const std::vector<PlannedSnapshot>& plan, bool needed_only = false) {
  std::vector<int> all;
  for (const PlannedSnapshot& snapshot : plan) {
    if (snapshot.is_needed || !needed_only) {
      all.push_back(snapshot.position);
    }
  }
  return all;
}

TEST(SnapshotPlan, TheEndOfAPromptLeavesATokenToProcess) {
  EXPECT_EQ(positions(plan_snapshots(0, 200, {}, 1024, 8)), (std::vector<int>{192}));
  EXPECT_EQ(positions(plan_snapshots(0, 192, {}, 1024, 8)), (std::vector<int>{128}));
  EXPECT_EQ(positions(plan_snapshots(0, 193, {}, 1024, 8)), (std::vector<int>{192}));
  EXPECT_TRUE(plan_snapshots(0, 64, {}, 1024, 8).empty());
  EXPECT_TRUE(plan_snapshots(192, 200, {}, 1024, 8).empty());
}

TEST(SnapshotPlan, FirstAndLastBoundariesAreNeeded) {
  const std::vector<int> boundaries = {130, 200, 300, 400, 500, 600};
  const auto plan = plan_snapshots(0, 640, boundaries, 64, 100);
  EXPECT_EQ(positions(plan), (std::vector<int>{64, 128, 192, 256, 320, 384, 448, 512, 576}));
  EXPECT_EQ(positions(plan, true), (std::vector<int>{128, 384, 448, 576}));
  EXPECT_EQ(positions(plan_snapshots(0, 640, boundaries, 1024, 100)), (std::vector<int>{128, 384, 448, 576}));
}

TEST(SnapshotPlan, LongStretchesAreCut) {
  EXPECT_EQ(positions(plan_snapshots(0, 5000, {}, 1024, 8)), (std::vector<int>{1024, 2048, 3072, 4992}));
  EXPECT_EQ(positions(plan_snapshots(0, 5000, {}, 1024, 2)), (std::vector<int>{2496, 4992}));
  EXPECT_EQ(positions(plan_snapshots(3968, 5000, {}, 1024, 8)), (std::vector<int>{4992}));
}

TEST(SnapshotPlan, BoundariesThatMakeNoSenseDoNoHarm) {
  EXPECT_EQ(positions(plan_snapshots(0, 300, std::vector<int>{-5, 1000, 130, 70, 1 << 30}, 1024, 8)),
            (std::vector<int>{128, 256}));
}

TEST(SnapshotPlan, AscendsInWholeBlocksAndIsNotTooDense) {
  std::mt19937 random(4);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int i = 0; i < 2000; ++i) {
    const int n_prompt = 1 + below(20000);
    const int begin = below(n_prompt) / kBlockTokens * kBlockTokens;
    std::vector<int> boundaries;
    for (int n = below(40), at = 0; n > 0; --n) {
      boundaries.push_back(at += below(1500));
    }
    const int n_most = below(12);
    const auto plan = plan_snapshots(begin, n_prompt, boundaries, 1024, n_most);
    int previous = begin;
    int n_optional = 0;
    for (const PlannedSnapshot& snapshot : plan) {
      ASSERT_GT(snapshot.position, previous);
      ASSERT_LT(snapshot.position, n_prompt);
      ASSERT_EQ(snapshot.position % kBlockTokens, 0);
      previous = snapshot.position;
      n_optional += snapshot.is_needed ? 0 : 1;
    }
    ASSERT_LE(n_optional, n_most + 1);
    ASSERT_EQ(previous, std::max(begin, (n_prompt - 1) / kBlockTokens * kBlockTokens));
  }
}

}  // namespace
}  // namespace orfebre
