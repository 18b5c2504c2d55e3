#include "checkpoint/read_buffers.h"

#include "base/error.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>

namespace orfebre {
namespace {

constexpr std::align_val_t kAlignment{uint64_t{2} << 20};  // of a huge page

}  // namespace

ReadBuffer::ReadBuffer(uint64_t size_bytes) : size_bytes_(size_bytes) {
  try {
    data_ = new (kAlignment) std::byte[size_bytes];
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::kOutOfMemory, "expected {} bytes of memory for reading one tensor, found too little",
         size_bytes);
  }
#if defined(__linux__)
  if (size_bytes >= static_cast<uint64_t>(kAlignment)) {
    static_cast<void>(::madvise(data_, size_bytes, MADV_HUGEPAGE));  // a wish; failure only costs time
  }
#endif
}

ReadBuffer::~ReadBuffer() {
  if (data_ != nullptr) {
    ::operator delete[](data_, kAlignment);
  }
}

ReadBuffer::ReadBuffer(ReadBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_bytes_(std::exchange(other.size_bytes_, 0)) {}

ReadBuffer& ReadBuffer::operator=(ReadBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

ReadBuffer ReadBuffers::take(uint64_t size_bytes) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!free_.empty()) {
      // The smallest that is large enough; else the largest goes, and a new one takes its place.
      const auto smaller = [](const ReadBuffer& left, const ReadBuffer& right) {
        return left.size_bytes() < right.size_bytes();
      };
      std::sort(free_.begin(), free_.end(), smaller);
      auto chosen = std::find_if(free_.begin(), free_.end(),
                                 [&](const ReadBuffer& buffer) { return buffer.size_bytes() >= size_bytes; });
      chosen = chosen == free_.end() ? free_.end() - 1 : chosen;
      ReadBuffer buffer = std::move(*chosen);
      free_.erase(chosen);
      if (buffer.size_bytes() >= size_bytes) {
        return buffer;
      }
    }
  }
  return ReadBuffer(size_bytes);
}

void ReadBuffers::give_back(ReadBuffer buffer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  free_.push_back(std::move(buffer));
}

void ReadBuffers::clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  free_.clear();
}

}  // namespace orfebre
