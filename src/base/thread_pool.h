// A fork-join pool for compute kernels: a fixed set of threads, of which the caller is one, that share the
// parts of one range of work and meet again. Between calls the workers spin for some 50 microseconds and then
// sleep. Owns threads only: no queue, no futures. One thread calls it; calls do not nest.
#pragma once

#include <algorithm>
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

  // Splits [0, n_units) into contiguous parts, a few a thread: body(begin, end, thread). No two calls at once
  // have the same `thread`, which lies in [0, size()). Returns when all are done; the first exception of a
  // body is rethrown here, and parts not yet begun then may never be.
  template <class Body>
  void run(int64_t n_units, Body&& body) {
    const int64_t parts_a_thread = n_units >= 16 * n_threads_ ? 4 : 1;
    const int64_t n_parts = std::min(n_units, parts_a_thread * n_threads_);
    run_parts(n_parts, [&](int64_t part, int thread) {
      body(n_units * part / n_parts, n_units * (part + 1) / n_parts, thread);
    });
  }

  // For units of uneven cost: `grain` units at a time.
  template <class Body>
  void run_dynamic(int64_t n_units, int64_t grain, Body&& body) {
    run_parts((n_units + grain - 1) / grain, [&](int64_t part, int thread) {
      body(part * grain, std::min((part + 1) * grain, n_units), thread);
    });
  }

 private:
  void join();  // ends the threads that have started

  using Call = void (*)(const void* body, int64_t part, int thread);

  // Threads take the next part until none is left; one that arrives late finds none and is not waited for, so
  // a core that the system lends to somebody else costs its share of the work and no more.
  template <class Body>
  void run_parts(int64_t n_parts, const Body& body) {
    if (n_threads_ == 1 || n_parts <= 1) {
      for (int64_t part = 0; part < n_parts; ++part) {
        body(part, 0);
      }
      return;
    }
    dispatch(
        n_parts,
        [](const void* b, int64_t part, int thread) { (*static_cast<const Body*>(b))(part, thread); }, &body);
  }

  void dispatch(int64_t n_parts, Call call, const void* body);
  void worker(int thread);
  bool enter();
  void leave();
  void take_parts(int thread);

  const int n_threads_;
  // The current call: written while the gate is shut and nobody is inside, read by those inside.
  Call call_ = nullptr;
  const void* body_ = nullptr;
  int64_t n_parts_ = 0;
  alignas(64) std::atomic<uint32_t> generation_{0};  // counts calls; workers wait for it to change
  alignas(64) std::atomic<uint32_t> gate_{0};  // workers inside the current call, and whether more may enter
  alignas(64) std::atomic<int64_t> next_part_{0};
  alignas(64) std::atomic<bool> stop_{false};
  std::mutex error_mutex_;
  std::exception_ptr error_;
  std::vector<std::thread> workers_;
};

}  // namespace orfebre
