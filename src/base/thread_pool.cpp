#include "base/thread_pool.h"

#include "base/error.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#if defined(__linux__)
#include <sched.h>
#endif

namespace orfebre {
namespace {

constexpr auto kSpinTime = std::chrono::microseconds(50);
constexpr int kSpinsPerClockRead = 64;
constexpr uint32_t kGateOpen = 0x80000000u;

inline void spin_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Returns when `value` is no longer `old`: spins first, then sleeps in the kernel.
template <class T>
T wait_for_change(const std::atomic<T>& value, T old) {
  const auto give_up = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < kSpinsPerClockRead; ++i) {
      const T now = value.load(std::memory_order_acquire);
      if (now != old) {
        return now;
      }
      spin_pause();
    }
  } while (std::chrono::steady_clock::now() < give_up);
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

#if defined(__linux__)
std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// CPUs of the quota of this cgroup and its parents (version 2), or 0 for none.
int cgroup_cpu_limit() {
  std::ifstream cgroups("/proc/self/cgroup");
  std::string line;
  std::string path;
  while (std::getline(cgroups, line)) {
    if (line.rfind("0::", 0) == 0) {
      path = line.substr(3);
    }
  }
  double limit = 0;
  while (true) {
    const std::string quota = first_line(fmt::format("/sys/fs/cgroup{}/cpu.max", path));
    long long microseconds = 0;
    long long period = 0;
    if (std::sscanf(quota.c_str(), "%lld %lld", &microseconds, &period) == 2 && microseconds > 0 &&
        period > 0) {
      const double cpus = static_cast<double>(microseconds) / static_cast<double>(period);
      limit = limit == 0 ? cpus : std::min(limit, cpus);
    }
    if (path.empty() || path == "/") {
      break;
    }
    path.erase(path.find_last_of('/'));
  }
  return limit == 0 ? 0 : std::max(1, static_cast<int>(limit + 0.5));
}
#endif

}  // namespace

int usable_physical_cores() {
  int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
#if defined(__linux__)
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
    std::set<std::string> siblings;  // hyper-threads of one core list the same siblings
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &allowed)) {
        const std::string list =
            first_line(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
        siblings.insert(list.empty() ? fmt::format("{}", cpu) : list);
      }
    }
    cores = std::max(1, static_cast<int>(siblings.size()));
  }
  const int limit = cgroup_cpu_limit();
  if (limit > 0) {
    cores = std::min(cores, limit);
  }
#endif
  return cores;
}

namespace {

int checked_thread_count(int n_threads) {
  if (n_threads < 0 || n_threads > 1024) {
    fail(ErrorKind::kInvalidRequest, "threads: expected 1 to 1024, or 0 for the physical cores; found {}",
         n_threads);
  }
  return n_threads == 0 ? usable_physical_cores() : n_threads;
}

}  // namespace

ThreadPool::ThreadPool(int n_threads) : n_threads_(checked_thread_count(n_threads)) {
  try {
    for (int thread = 1; thread < n_threads_; ++thread) {
      workers_.emplace_back([this, thread] { worker(thread); });
    }
  } catch (const std::system_error& error) {
    const size_t n_started = workers_.size();
    join();
    fail(ErrorKind::kOutOfMemory, "threads: expected to start {}, found room for {} ({}); ask for fewer",
         n_threads_ - 1, n_started, error.code().message());
  }
}

ThreadPool::~ThreadPool() {
  join();
}

void ThreadPool::join() {
  stop_.store(true, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread& worker : workers_) {
    worker.join();
  }
}

void ThreadPool::dispatch(int64_t n_parts, Call call, const void* body) {
  call_ = call;
  body_ = body;
  n_parts_ = n_parts;
  next_part_.store(0, std::memory_order_relaxed);
  gate_.store(kGateOpen, std::memory_order_release);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  take_parts(0);
  uint32_t inside = gate_.fetch_and(~kGateOpen, std::memory_order_acq_rel) & ~kGateOpen;
  while (inside != 0) {
    inside = wait_for_change(gate_, inside);
  }
  if (error_) {
    std::rethrow_exception(std::exchange(error_, nullptr));
  }
}

void ThreadPool::worker(int thread) {
  uint32_t seen = 0;
  while (true) {
    seen = wait_for_change(generation_, seen);
    if (stop_.load(std::memory_order_relaxed)) {
      return;
    }
    if (enter()) {
      take_parts(thread);
      leave();
    }
  }
}

bool ThreadPool::enter() {
  uint32_t gate = gate_.load(std::memory_order_relaxed);
  while ((gate & kGateOpen) != 0) {
    if (gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acquire, std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void ThreadPool::leave() {
  if (gate_.fetch_sub(1, std::memory_order_release) == 1) {  // the gate is shut and nobody else is inside
    gate_.notify_one();
  }
}

void ThreadPool::take_parts(int thread) {
  try {
    for (int64_t part = next_part_.fetch_add(1, std::memory_order_relaxed); part < n_parts_;
         part = next_part_.fetch_add(1, std::memory_order_relaxed)) {
      call_(body_, part, thread);
    }
  } catch (...) {
    next_part_.store(n_parts_, std::memory_order_relaxed);
    const std::lock_guard<std::mutex> lock(error_mutex_);
    if (!error_) {
      error_ = std::current_exception();
    }
  }
}

}  // namespace orfebre
