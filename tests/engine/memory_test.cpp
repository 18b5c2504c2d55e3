// The bookkeeping of KV blocks and state slots, and the sizing of prefill chunks.
#include "engine/kv_pool.h"
#include "engine/prefill_pace.h"
#include "engine/state_slots.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace orfebre {
namespace {

TEST(KvPool, ABlockReturnsWithItsLastUser) {
  KvPool pool(3);
  const int32_t block = pool.allocate();
  pool.share(block);
  pool.release(block);
  EXPECT_EQ(pool.n_free(), 2);
  const std::set<int32_t> others = {pool.allocate(), pool.allocate()};
  EXPECT_EQ(others.size(), 2u);
  EXPECT_EQ(others.count(block), 0u);
  pool.release(block);
  EXPECT_EQ(pool.n_free(), 1);
  EXPECT_EQ(pool.allocate(), block);
}

TEST(KvPool, CountsWhatABlockHolds) {
  EXPECT_EQ(blocks_for(0), 0);
  EXPECT_EQ(blocks_for(1), 1);
  EXPECT_EQ(blocks_for(64), 1);
  EXPECT_EQ(blocks_for(65), 2);
}

TEST(KvPoolDeathTest, MisuseIsADefectAndStopsTheProgram) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  KvPool pool(1);
  const int32_t block = pool.allocate();
  EXPECT_DEATH(pool.allocate(), "free_");
  pool.release(block);
  EXPECT_DEATH(pool.release(block), "users_");
  EXPECT_DEATH(pool.share(block), "users_");
  EXPECT_DEATH(pool.release(1), "n_total");
}

TEST(StateSlots, NeverGivesASlotTwice) {
  StateSlots slots(5);
  std::mt19937 random(3);
  std::set<int32_t> taken;
  for (int i = 0; i < 1000; ++i) {
    if (slots.n_free() > 0 && random() % 2 == 0) {
      EXPECT_TRUE(taken.insert(slots.allocate()).second);
    } else if (!taken.empty()) {
      slots.release(*taken.begin());
      taken.erase(taken.begin());
    }
    EXPECT_EQ(slots.n_free() + static_cast<int>(taken.size()), slots.n_total());
  }
}

TEST(StateSlotsDeathTest, ReleasingTwiceStopsTheProgram) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  StateSlots slots(2);
  const int32_t slot = slots.allocate();
  slots.release(slot);
  EXPECT_DEATH(slots.release(slot), "users_");
}

TEST(PrefillPace, EndsChunksAtBlockBordersOrThePromptsEnd) {
  PrefillPace pace(500, 1.0);
  EXPECT_EQ(pace.chunk_end(0, 10000, false), 448);
  EXPECT_EQ(pace.chunk_end(448, 10000, false), 896);
  EXPECT_EQ(pace.chunk_end(9600, 10000, false), 10000);
  EXPECT_EQ(pace.chunk_end(70, 10000, false), 512);
  EXPECT_EQ(pace.chunk_end(0, 10000, true), 64) << "nothing is known yet";
  PrefillPace narrow(10, 1.0);
  EXPECT_EQ(narrow.chunk_end(0, 100, false), 10);
  EXPECT_EQ(narrow.chunk_end(60, 100, false), 64);
}

TEST(PrefillPace, LearnsFromWholeBlocksOnly) {
  PrefillPace pace(1000, 0.5);
  pace.record(64, 0.1);  // 640 rows a second: 320 in half a second
  EXPECT_EQ(pace.chunk_end(0, 10000, true), 320);
  pace.record(3, 10.0);
  EXPECT_EQ(pace.chunk_end(0, 10000, true), 320);
  pace.record(320, 1.0);  // half the pace: the mean is 480 rows a second
  EXPECT_EQ(pace.chunk_end(0, 10000, true), 192);
  pace.record(64, 100.0);
  pace.record(64, 100.0);
  pace.record(64, 100.0);
  EXPECT_EQ(pace.chunk_end(0, 10000, true), 64) << "never less than a block";
}

}  // namespace
}  // namespace orfebre
