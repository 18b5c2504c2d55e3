// The fork-join pool at several sizes: every unit runs once, results are seen, errors are rethrown.
#include "base/thread_pool.h"

#include "base/error.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace orfebre {
namespace {

class ThreadPoolTest : public ::testing::TestWithParam<int> {};

TEST_P(ThreadPoolTest, EveryUnitRunsOnceInBothModes) {
  ThreadPool pool(GetParam());
  for (int64_t n : {0, 1, 2, 3, 7, 64, 1000}) {
    std::vector<int> visits(static_cast<size_t>(n), 0);
    const auto visit = [&](int64_t begin, int64_t end, int thread) {
      EXPECT_LT(begin, end);
      EXPECT_GE(thread, 0);
      EXPECT_LT(thread, pool.size());
      for (int64_t i = begin; i < end; ++i) {
        ++visits[static_cast<size_t>(i)];
      }
    };
    pool.run(n, visit);
    pool.run_dynamic(n, 3, visit);
    EXPECT_EQ(visits, std::vector<int>(static_cast<size_t>(n), 2));
  }
}

TEST_P(ThreadPoolTest, ResultsOfOneCallAreSeenByTheNext) {
  ThreadPool pool(GetParam());
  std::vector<int64_t> values(97, 1);
  for (int round = 0; round < 2000; ++round) {
    pool.run(97, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        values[static_cast<size_t>(i)] = values[static_cast<size_t>(i)] + 1;
      }
    });
  }
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), int64_t{0}), 97 * 2001);
}

TEST_P(ThreadPoolTest, WorkersWakeAfterTheySlept) {
  ThreadPool pool(GetParam());
  std::atomic<int> calls{0};
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    pool.run(pool.size(), [&](int64_t, int64_t, int) { ++calls; });
  }
  EXPECT_EQ(calls, 3 * pool.size());
}

TEST_P(ThreadPoolTest, AnExceptionReachesTheCallerAndThePoolLivesOn) {
  ThreadPool pool(GetParam());
  for (int64_t bad : {0, 5, 9}) {
    EXPECT_THROW(pool.run(10,
                          [&](int64_t begin, int64_t end, int) {
                            if (begin <= bad && bad < end) {
                              throw std::runtime_error("unit");
                            }
                          }),
                 std::runtime_error);
    std::atomic<int64_t> done{0};
    pool.run(10, [&](int64_t begin, int64_t end, int) { done += end - begin; });
    EXPECT_EQ(done, 10);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolTest, ::testing::Values(1, 2, 3, 5));

TEST(ThreadPoolSize, ZeroTakesThePhysicalCoresAndNonsenseIsRefused) {
  EXPECT_GE(usable_physical_cores(), 1);
  EXPECT_EQ(ThreadPool(0).size(), usable_physical_cores());
  EXPECT_THROW(ThreadPool(-1), Error);
  EXPECT_THROW(ThreadPool(5000), Error);
}

}  // namespace
}  // namespace orfebre
