// The queue between the engine and a reply: order, waking, and no event lost.
#include "engine/token_stream.h"

#include <gtest/gtest.h>

#include <thread>

namespace orfebre {
namespace {

using std::chrono::milliseconds;

TokenEvent token(int32_t id) {
  TokenEvent event;
  event.id = id;
  return event;
}

TokenEvent last() {
  TokenEvent event;
  event.finish = FinishReason::kStop;
  return event;
}

TEST(TokenStream, GivesEventsInOrderAcrossThreads) {
  constexpr int kEvents = 5000;
  TokenStream stream;
  std::thread producer([&stream] {
    for (int i = 0; i < kEvents; ++i) {
      stream.push(token(i));
    }
    stream.push(last());
  });
  for (int i = 0; i < kEvents; ++i) {
    const auto event = stream.next(milliseconds(60000));
    ASSERT_TRUE(event.has_value());
    ASSERT_EQ(event->id, i);
  }
  EXPECT_EQ(stream.next(milliseconds(60000))->finish, FinishReason::kStop);
  producer.join();
  EXPECT_TRUE(stream.ended());
  EXPECT_FALSE(stream.try_next().has_value());
}

TEST(TokenStream, GivesNothingWhenNothingCame) {
  TokenStream stream;
  EXPECT_FALSE(stream.next(milliseconds(1)).has_value());
  EXPECT_FALSE(stream.try_next().has_value());
  EXPECT_FALSE(stream.ended());
}

TEST(TokenStream, WakesOnEveryEventAndAtOnceIfSomeWait) {
  TokenStream stream;
  int n_wakes = 0;
  stream.set_wake([&n_wakes] { ++n_wakes; });
  EXPECT_EQ(n_wakes, 0);
  stream.push(token(1));
  stream.push(token(2));
  EXPECT_EQ(n_wakes, 2);
  int n_later = 0;
  stream.set_wake([&] {  // may read from within
    ++n_later;
    stream.try_next();
  });
  EXPECT_EQ(n_later, 1);
  stream.push(token(3));
  EXPECT_EQ(n_later, 2);
  EXPECT_EQ(n_wakes, 2);
  stream.set_wake(nullptr);
  stream.push(last());
  EXPECT_EQ(n_later, 2);
}

}  // namespace
}  // namespace orfebre
