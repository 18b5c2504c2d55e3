// The queue between the engine thread and whoever writes the reply: one producer, one consumer.
#pragma once

#include "engine/request.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

namespace orfebre {

class TokenStream {
 public:
  // Consumer. The next event, or nullopt when none came within `timeout`. After the finishing event there
  // are no more.
  std::optional<TokenEvent> next(std::chrono::milliseconds timeout);
  std::optional<TokenEvent> try_next();

  // Consumer. `wake` is called on the engine thread after each event, for consumers that do not block; it
  // must be quick, must not throw and must not call set_wake. Called once at once, on the caller's thread, if
  // events are waiting already. After set_wake(nullptr) returns, the old one is not running and never will.
  void set_wake(std::function<void()> wake);

  // Anyone. The engine ends the sequence at its next step or layer; the stream still gets its last event.
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  const std::atomic<bool>& cancelled() const { return cancelled_; }

  // Anyone. Whether the finishing event has been pushed; it may still wait to be read.
  bool ended() const { return ended_.load(std::memory_order_acquire); }

  // Engine.
  void push(TokenEvent event);

 private:
  std::optional<TokenEvent> pop_locked();

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<TokenEvent> events_;
  std::mutex wake_mutex_;  // held while wake_ runs
  std::function<void()> wake_;
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> ended_{false};
};

}  // namespace orfebre
