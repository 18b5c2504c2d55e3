#include "engine/token_stream.h"

#include <utility>

namespace orfebre {

std::optional<TokenEvent> TokenStream::pop_locked() {
  if (events_.empty()) {
    return std::nullopt;
  }
  TokenEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

std::optional<TokenEvent> TokenStream::next(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  arrived_.wait_for(lock, timeout, [this] { return !events_.empty(); });
  return pop_locked();
}

std::optional<TokenEvent> TokenStream::try_next() {
  const std::lock_guard lock(mutex_);
  return pop_locked();
}

void TokenStream::set_wake(std::function<void()> wake) {
  const std::lock_guard wake_lock(wake_mutex_);
  wake_ = std::move(wake);
  const bool waiting = [this] {
    const std::lock_guard lock(mutex_);
    return !events_.empty();
  }();
  if (wake_ && waiting) {
    wake_();
  }
}

void TokenStream::push(TokenEvent event) {
  {
    const std::lock_guard lock(mutex_);
    ORFEBRE_CHECK(!ended());
    if (event.finish) {
      ended_.store(true, std::memory_order_release);
    }
    events_.push_back(std::move(event));
  }
  arrived_.notify_one();
  const std::lock_guard wake_lock(wake_mutex_);
  if (wake_) {
    wake_();
  }
}

}  // namespace orfebre
