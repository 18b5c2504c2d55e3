// The reply thread: wakes each reply when its tokens come, and all of them now and then for signs of life.
// One thread is enough: formatting a token takes some microseconds, and it keeps every session free of locks.
#pragma once

#include "server/reply/reply_session.h"

#include <chrono>
#include <memory>
#include <thread>

namespace orfebre {

class ReplyDriver {
 public:
  explicit ReplyDriver(std::chrono::milliseconds keep_alive);
  ~ReplyDriver();  // stops

  // Thread-safe. The driver holds the session until its reply has ended.
  void add(std::shared_ptr<ReplySession> session);

  int n_active() const;
  // Thread-safe. Cancels every reply; those added later are cancelled at once.
  void cancel_all();
  // Joins the thread; replies that have not ended are dropped.
  void stop();

 private:
  struct Shared;
  static void run(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;  // the engine's wake-ups may outlive the driver
  std::thread thread_;
};

}  // namespace orfebre
