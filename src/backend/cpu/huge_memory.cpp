#include "backend/cpu/huge_memory.h"

#include "base/error.h"

#include <sys/mman.h>

namespace orfebre::cpu {
namespace {

constexpr uint64_t kHugePageBytes = 2u << 20;
constexpr uint64_t kSmallPageBytes = 65536;  // the largest that a Linux has
constexpr uint64_t kChunkBytes = 2 * kHugePageBytes;
constexpr uint64_t kAlignment = 64;

constexpr uint64_t round_up(uint64_t bytes, uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// `bytes` of whole small pages, beginning at a huge page: mapped with room to spare, and the spare given
// back. The end is not rounded up to a huge page, which would cost up to 2 MB of memory a matrix.
uint8_t* map_pages(uint64_t bytes, const char* what) {
  const uint64_t wanted = bytes + kHugePageBytes;
  void* const address = mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) {
    fail(ErrorKind::kOutOfMemory,
         "{}: {} bytes of memory asked for, the system has not as many; use a shorter "
         "context or fewer sequences",
         what, bytes);
  }
  auto* const begin = static_cast<uint8_t*>(address);
  const uint64_t skip =
      round_up(reinterpret_cast<uint64_t>(begin), kHugePageBytes) - reinterpret_cast<uint64_t>(begin);
  if (skip > 0) {
    munmap(begin, skip);
  }
  munmap(begin + skip + bytes, wanted - skip - bytes);
#if defined(__linux__)
  madvise(begin + skip, bytes, MADV_HUGEPAGE);
#endif
  return begin + skip;
}

}  // namespace

HugeMemory::~HugeMemory() {
  for (const Mapping& mapping : mappings_) {
    munmap(mapping.address, mapping.bytes);
  }
}

uint8_t* HugeMemory::map(uint64_t bytes, const char* what) {
  const uint64_t whole = round_up(bytes, kSmallPageBytes);
  uint8_t* const address = map_pages(whole, what);
  mappings_.push_back({address, whole});
  return address;
}

uint8_t* HugeMemory::allocate(uint64_t bytes, const char* what) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t aligned = round_up(bytes == 0 ? 1 : bytes, kAlignment);
  if (aligned >= kHugePageBytes) {
    return map(aligned, what);
  }
  if (aligned > chunk_bytes_) {
    chunk_ = map(kChunkBytes, what);
    chunk_bytes_ = kChunkBytes;
  }
  uint8_t* const address = chunk_;
  chunk_ += aligned;
  chunk_bytes_ -= aligned;
  return address;
}

uint64_t Scratch::mapped_bytes(uint64_t bytes) {
  return round_up(bytes, kHugePageBytes);
}

Scratch::~Scratch() {
  if (address_ != nullptr) {
    munmap(address_, bytes_);
  }
}

uint8_t* Scratch::at_least(uint64_t bytes, const char* what) {
  if (bytes > bytes_) {
    const uint64_t whole = mapped_bytes(bytes);
    if (address_ != nullptr) {
      munmap(address_, bytes_);
      address_ = nullptr;
      bytes_ = 0;
    }
    address_ = map_pages(whole, what);
    bytes_ = whole;
  }
  return address_;
}

}  // namespace orfebre::cpu
