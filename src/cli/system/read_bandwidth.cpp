#include "cli/system/read_bandwidth.h"

#include "base/error.h"
#include "cli/system/signals.h"
#include "cli/system/system_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace orfebre::cli {
namespace {

constexpr uint64_t kBufferBytes = uint64_t{1} << 30;
constexpr int kPasses = 6;
constexpr size_t kStreams = 4;  // read side by side: more than one stream keeps the prefetchers busy
constexpr size_t kLineBytes = 64;
constexpr size_t kPrefetchBytes = 2048;  // ahead of each stream

class Buffer {
 public:
  explicit Buffer(uint64_t bytes) : bytes_(bytes) {
    memory_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) {
      fail(ErrorKind::kOutOfMemory, "no {} for measuring the read bandwidth", format_bytes(bytes));
    }
#ifdef MADV_HUGEPAGE
    madvise(memory_, bytes, MADV_HUGEPAGE);
#endif
  }
  ~Buffer() {
    munmap(memory_, bytes_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  const char* data() const {
    return static_cast<const char*>(memory_);
  }
  char* data() {
    return static_cast<char*>(memory_);
  }

 private:
  void* memory_;
  uint64_t bytes_;
};

// Adds up all 64-bit words of [data, data + bytes): the sum keeps the compiler from dropping the reads.
uint64_t read_all(const char* data, size_t bytes) {
  const size_t stride = bytes / kStreams / kLineBytes * kLineBytes;
  uint64_t sums[kLineBytes / sizeof(uint64_t)] = {};
  for (size_t offset = 0; offset < stride; offset += kLineBytes) {
    for (size_t stream = 0; stream < kStreams; ++stream) {
      const char* const line = data + stream * stride + offset;
      __builtin_prefetch(line + kPrefetchBytes);
      uint64_t words[kLineBytes / sizeof(uint64_t)];
      std::memcpy(words, line, sizeof(words));
      for (size_t i = 0; i < std::size(words); ++i) {
        sums[i] += words[i];
      }
    }
  }
  uint64_t total = 0;
  for (const uint64_t sum : sums) {
    total += sum;
  }
  return total;
}

// Seconds that all threads together take for `work(thread)`.
template <typename Work>
double run_threads(int n_threads, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (int t = 0; t < n_threads; ++t) {
    threads.emplace_back(work, t);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

double measure_read_bandwidth(int n_threads) {
  const uint64_t bytes = std::min(kBufferBytes, usable_memory_bytes() / 4) & ~uint64_t{0xffff};
  const size_t share = bytes / static_cast<size_t>(n_threads);
  Buffer buffer(bytes);
  std::atomic<uint64_t> sink{0};
  run_threads(n_threads,
              [&](int t) { std::memset(buffer.data() + static_cast<size_t>(t) * share, t + 1, share); });
  double best_seconds = 1e30;
  for (int pass = 0; pass < kPasses && !stop_requested().load(); ++pass) {
    best_seconds = std::min(best_seconds, run_threads(n_threads, [&](int t) {
                              sink += read_all(buffer.data() + static_cast<size_t>(t) * share, share);
                            }));
  }
  return static_cast<double>(share) * n_threads / best_seconds;
}

}  // namespace orfebre::cli
