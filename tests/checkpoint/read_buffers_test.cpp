#include "checkpoint/read_buffers.h"

#include <gtest/gtest.h>

#include <cstring>

namespace orfebre::test {
namespace {

TEST(ReadBuffers, ABufferIsUsedAgainWhenItIsLargeEnough) {
  ReadBuffers buffers;
  ReadBuffer first = buffers.take(1000);
  std::byte* const address = first.data();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(address) % 64, 0u);
  std::memset(address, 1, 1000);
  buffers.give_back(std::move(first));
  ReadBuffer again = buffers.take(500);
  EXPECT_EQ(again.data(), address);
  EXPECT_EQ(again.size_bytes(), 1000u);
  EXPECT_NE(buffers.take(500).data(), address);  // that one is taken
}

TEST(ReadBuffers, TheSmallestThatFitsIsTaken) {
  ReadBuffers buffers;
  ReadBuffer large = buffers.take(3000);
  ReadBuffer small = buffers.take(2000);
  std::byte* const small_address = small.data();
  buffers.give_back(std::move(large));
  buffers.give_back(std::move(small));
  EXPECT_EQ(buffers.take(1500).data(), small_address);
}

TEST(ReadBuffers, HoldsNoMoreBuffersThanWereInUseAtOnce) {
  ReadBuffers buffers;
  for (uint64_t size = 1000; size < 20000; size += 1000) {  // each too large for what is there
    ReadBuffer buffer = buffers.take(size);
    EXPECT_EQ(buffer.size_bytes(), size);
    buffers.give_back(std::move(buffer));
  }
  const ReadBuffer last = buffers.take(1);
  EXPECT_EQ(last.size_bytes(), 19000u);
  EXPECT_EQ(buffers.take(1).size_bytes(), 1u);  // nothing else was kept
}

}  // namespace
}  // namespace orfebre::test
