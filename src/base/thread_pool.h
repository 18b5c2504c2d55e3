// A fork-join pool for compute kernels: a fixed set of threads, of which the caller is one, that run one
// body over a range of units and meet again. Between calls the workers spin for some 50 microseconds and
// then sleep. Owns threads only: no queue, no futures. One thread calls it; calls do not nest.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace orfebre {

// Physical cores that this process may use: respects the affinity mask and the cgroup's CPU quota; at
// least 1.
int usable_physical_cores();

class ThreadPool {
 public:
  // `n_threads` counts the caller; 0 takes usable_physical_cores(). Throws Error(kInvalidRequest) when
  // negative or over 1024.
  explicit ThreadPool(int n_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return n_threads_; }

  // Splits [0, n_units) into one contiguous range a thread: body(begin, end, thread). Empty ranges are not
  // called. Returns when all are done; the first exception of a body is rethrown here.
  template <class Body>
  void run(int64_t n_units, Body&& body) {
    const int n_parts = static_cast<int>(n_units < n_threads_ ? n_units : n_threads_);
    auto part = [&](int thread) {
      const int64_t begin = n_units * thread / n_parts;
      const int64_t end = n_units * (thread + 1) / n_parts;
      body(begin, end, thread);
    };
    fork_join(n_parts, part);
  }

  // For units of uneven cost: threads take `grain` units at a time until none are left.
  template <class Body>
  void run_dynamic(int64_t n_units, int64_t grain, Body&& body) {
    const int64_t n_takes = (n_units + grain - 1) / grain;
    std::atomic<int64_t> next{0};
    auto part = [&](int thread) {
      for (int64_t begin = next.fetch_add(grain, std::memory_order_relaxed); begin < n_units;
           begin = next.fetch_add(grain, std::memory_order_relaxed)) {
        body(begin, begin + grain < n_units ? begin + grain : n_units, thread);
      }
    };
    fork_join(static_cast<int>(n_takes < n_threads_ ? n_takes : n_threads_), part);
  }

 private:
  using Call = void (*)(void* part, int thread);

  template <class Part>
  void fork_join(int n_parts, Part& part) {
    if (n_parts == 1) {
      part(0);
    } else if (n_parts > 1) {
      dispatch(
          n_parts, [](void* p, int thread) { (*static_cast<Part*>(p))(thread); }, &part);
    }
  }

  void dispatch(int n_parts, Call call, void* part);
  void worker(int thread);
  void run_part(int thread);

  const int n_threads_;
  // The current call: written before `generation_` is stored, read after it is loaded.
  Call call_ = nullptr;
  void* part_ = nullptr;
  int n_parts_ = 0;
  alignas(64) std::atomic<uint32_t> generation_{0};
  alignas(64) std::atomic<int> busy_{0};  // workers that have not finished the current call
  alignas(64) std::atomic<bool> stop_{false};
  std::mutex error_mutex_;
  std::exception_ptr error_;
  std::vector<std::thread> workers_;
};

}  // namespace orfebre
