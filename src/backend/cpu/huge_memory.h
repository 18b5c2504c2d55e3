// The backend's memory: zeroed pages that the kernel is asked to make huge, given back all at once. Decoding
// reads every weight once a token, and with 4 KB pages half of that time goes to address translation.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace orfebre::cpu {

class HugeMemory {
 public:
  HugeMemory() = default;
  ~HugeMemory();
  HugeMemory(const HugeMemory&) = delete;
  HugeMemory& operator=(const HugeMemory&) = delete;

  // Zeroed, aligned to 64 bytes, alive until the owner dies. Thread-safe. Throws Error(kOutOfMemory).
  uint8_t* allocate(uint64_t bytes, const char* what);

 private:
  struct Mapping {
    void* address;
    uint64_t bytes;
  };
  uint8_t* map(uint64_t bytes, const char* what);

  std::mutex mutex_;
  std::vector<Mapping> mappings_;
  uint8_t* chunk_ = nullptr;  // what is left of the chunk that small allocations share
  uint64_t chunk_bytes_ = 0;
};

// Memory that grows to the largest size asked for and keeps nothing; one thread uses it.
class Scratch {
 public:
  Scratch() = default;
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  uint8_t* at_least(uint64_t bytes, const char* what);
  uint8_t* data() const { return address_; }
  uint64_t size_bytes() const { return bytes_; }
  // What at_least(bytes) maps.
  static uint64_t mapped_bytes(uint64_t bytes);
  float* floats(uint64_t count, const char* what) {
    return reinterpret_cast<float*>(at_least(count * sizeof(float), what));
  }

 private:
  uint8_t* address_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace orfebre::cpu
