#include "server/reply_driver.h"

#include "base/log.h"

#include <condition_variable>
#include <mutex>
#include <unordered_set>
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
};

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
  std::unique_lock lock(shared->mutex);
  while (!shared->stopped) {
    shared->arrived.wait_until(lock, next_tick, [&] { return shared->stopped || !shared->ready.empty(); });
    if (shared->stopped) {
      return;
    }
    std::vector<std::shared_ptr<ReplySession>> ready;
    ready.swap(shared->ready);
    std::vector<std::shared_ptr<ReplySession>> all;
    const auto now = Clock::now();
    if (now >= next_tick) {
      all.assign(shared->active.begin(), shared->active.end());
      next_tick = now + period;
    }
    lock.unlock();
    std::vector<std::shared_ptr<ReplySession>> ended;
    for (const auto& session : ready) {
      session->scheduled = false;  // before draining: what comes during it wakes again
      if (session->drain()) {
        ended.push_back(session);
      }
    }
    for (const auto& session : all) {
      session->tick(now, shared->keep_alive);
    }
    lock.lock();
    for (const auto& session : ended) {
      shared->active.erase(session);
    }
    lock.unlock();
    ready.clear();
    all.clear();
    ended.clear();
    lock.lock();
  }
}

}  // namespace orfebre
