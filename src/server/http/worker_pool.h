// A few threads that run tasks in order of arrival, from a queue of bounded length.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace orfebre::http {

class WorkerPool {
 public:
  WorkerPool(int n_threads, size_t max_waiting);
  ~WorkerPool();  // stops

  // False when the queue is full or the pool has stopped; the task is then not kept. Tasks must not throw.
  bool post(std::function<void()> task);

  // Drops the tasks that have not begun and joins the threads. Not from a task.
  void stop();

 private:
  void run();

  size_t max_waiting_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::function<void()>> tasks_;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace orfebre::http
