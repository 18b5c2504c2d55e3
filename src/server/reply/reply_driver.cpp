#include "server/reply/reply_driver.h"

#include "base/log.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

namespace orfebre {

struct ReplyDriver::Shared {
  std::chrono::milliseconds keep_alive;
  std::mutex mutex;
  std::condition_variable arrived;
  std::vector<std::shared_ptr<ReplySession>> ready;
  std::unordered_set<std::shared_ptr<ReplySession>> active;
  bool cancelling = false;
  bool stopped = false;

  using Sessions = std::vector<std::shared_ptr<ReplySession>>;

  void wake(std::shared_ptr<ReplySession> session) {
    if (session->scheduled.exchange(true)) {
      return;
    }
    {
      const std::lock_guard lock(mutex);
      if (stopped) {
        return;
      }
      ready.push_back(std::move(session));
    }
    arrived.notify_one();
  }

  // Waits for sessions that have been woken, until `until` at most; nullopt once stopped.
  std::optional<Sessions> next(ReplySession::Clock::time_point until) {
    std::unique_lock lock(mutex);
    arrived.wait_until(lock, until, [this] { return stopped || !ready.empty(); });
    return stopped ? std::nullopt : std::optional(std::exchange(ready, {}));
  }

  Sessions all_active() {
    const std::lock_guard lock(mutex);
    return {active.begin(), active.end()};
  }

  void forget(const Sessions& ended) {
    const std::lock_guard lock(mutex);
    for (const auto& session : ended) {
      active.erase(session);
    }
  }
};

namespace {

// Whether the reply has ended. One that cannot go on ends too; its writer, released, tells the client.
bool drained(ReplySession& session) {
  try {
    return session.drain();
  } catch (const std::exception& error) {
    log_error("a reply is given up: {}", error.what());
    session.cancel();
    return true;
  }
}

}  // namespace

ReplyDriver::ReplyDriver(std::chrono::milliseconds keep_alive) : shared_(std::make_shared<Shared>()) {
  shared_->keep_alive = keep_alive;
  thread_ = std::thread([shared = shared_] { run(shared); });
}

ReplyDriver::~ReplyDriver() {
  stop();
}

void ReplyDriver::add(std::shared_ptr<ReplySession> session) {
  bool cancelling = false;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->active.insert(session);
    cancelling = shared_->cancelling;
  }
  if (cancelling) {
    session->cancel();
  }
  session->stream().set_wake(
      [shared = std::weak_ptr<Shared>(shared_), weak = std::weak_ptr<ReplySession>(session)] {
        const auto driver = shared.lock();
        auto awake = weak.lock();
        if (driver && awake) {
          driver->wake(std::move(awake));
        }
      });
}

int ReplyDriver::n_active() const {
  const std::lock_guard lock(shared_->mutex);
  return static_cast<int>(shared_->active.size());
}

void ReplyDriver::cancel_all() {
  const std::lock_guard lock(shared_->mutex);
  shared_->cancelling = true;
  for (const auto& session : shared_->active) {
    session->cancel();
  }
}

void ReplyDriver::stop() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stopped = true;
  }
  shared_->arrived.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
  // Destroyed outside the lock and before the sockets.
  std::unordered_set<std::shared_ptr<ReplySession>> dropped;
  std::vector<std::shared_ptr<ReplySession>> ready;
  const std::lock_guard lock(shared_->mutex);
  dropped.swap(shared_->active);
  ready.swap(shared_->ready);
  for (const auto& session : dropped) {
    session->cancel();
  }
}

void ReplyDriver::run(const std::shared_ptr<Shared>& shared) {
  using Clock = ReplySession::Clock;
  const auto period =
      std::min<std::chrono::milliseconds>(shared->keep_alive / 4, std::chrono::milliseconds(500));
  auto next_tick = Clock::now() + period;
  // Sessions that a round ended go at its end, so that no destructor runs under the lock.
  while (const auto ready = shared->next(next_tick)) {
    Shared::Sessions ended;
    for (const auto& session : *ready) {
      session->scheduled = false;  // before draining: what comes during it wakes again
      if (drained(*session)) {
        ended.push_back(session);
      }
    }
    if (const auto now = Clock::now(); now >= next_tick) {
      for (const auto& session : shared->all_active()) {
        session->tick(now, shared->keep_alive);
      }
      next_tick = now + period;
    }
    shared->forget(ended);
  }
}

}  // namespace orfebre
