// Memory that tensors are read into, used again for the next tensor: fresh memory for 20 GB of reads would
// cost more time in page faults than the reading itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace orfebre {

// Move-only, aligned to 64 bytes, contents undefined.
class ReadBuffer {
 public:
  ReadBuffer() = default;
  // Throws Error(kOutOfMemory).
  explicit ReadBuffer(uint64_t size_bytes);
  ~ReadBuffer();
  ReadBuffer(ReadBuffer&& other) noexcept;
  ReadBuffer& operator=(ReadBuffer&& other) noexcept;

  std::byte* data() const { return data_; }
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  std::byte* data_ = nullptr;
  uint64_t size_bytes_ = 0;
};

// Holds as many buffers as were in use at once, each as large as the largest thing it has held. Thread-safe.
class ReadBuffers {
 public:
  // At least `size_bytes` long. Throws Error(kOutOfMemory).
  ReadBuffer take(uint64_t size_bytes);
  void give_back(ReadBuffer buffer);
  // Frees what nobody has taken.
  void clear();

 private:
  std::mutex mutex_;
  std::vector<ReadBuffer> free_;
};

}  // namespace orfebre
