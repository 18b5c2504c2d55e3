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
  // must be quick and must not throw. Called once at once if events are waiting already.
  void set_wake(std::function<void()> wake);

  // Anyone. The engine ends the sequence at its next step or layer; the stream still gets its last event.
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  const std::atomic<bool>& cancelled() const { return cancelled_; }

  // Engine.
  void push(TokenEvent event);

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<TokenEvent> events_;
  std::function<void()> wake_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace orfebre
