#include "base/input_file.h"

#include "base/error.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

namespace orfebre {
namespace {

// Linux moves at most 2 GiB minus a page in one call.
constexpr size_t kMaxReadBytes = size_t{1} << 30;
constexpr size_t kDirectUnit = 4096;              // what direct reads are multiples of
constexpr size_t kDirectBytes = size_t{1} << 20;  // of one direct read
static_assert(kDirectBytes % kDirectUnit == 0);

// Each thread's landing place of direct reads, [kDirectBytes].
void* direct_buffer() {
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  thread_local const std::unique_ptr<void, Free> buffer(std::aligned_alloc(kDirectUnit, kDirectBytes));
  if (buffer == nullptr) {
    throw std::bad_alloc();
  }
  return buffer.get();
}

}  // namespace

InputFile::Identity InputFile::identity_of(const void* stat_result) {
  const auto& found = *static_cast<const struct stat*>(stat_result);
  Identity identity;
  identity.device = static_cast<uint64_t>(found.st_dev);
  identity.inode = static_cast<uint64_t>(found.st_ino);
  identity.size_bytes = static_cast<uint64_t>(found.st_size);
#ifdef __APPLE__
  identity.modified_seconds = found.st_mtimespec.tv_sec;
  identity.modified_nanoseconds = found.st_mtimespec.tv_nsec;
#else
  identity.modified_seconds = found.st_mtim.tv_sec;
  identity.modified_nanoseconds = found.st_mtim.tv_nsec;
#endif
  return identity;
}

InputFile::InputFile(const std::string& path, PageCache cache) : path_(path) {
  // Non-blocking, so that a named pipe under this name is refused below instead of waited for.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) {
    fail(ErrorKind::kNotFound, "{}: cannot open the file: {}", path, std::strerror(errno));
  }
  struct stat found {};
  if (::fstat(descriptor_, &found) != 0 || !S_ISREG(found.st_mode)) {
    ::close(descriptor_);
    fail(ErrorKind::kBadCheckpoint, "{}: expected a regular file, found something else", path);
  }
  identity_ = identity_of(&found);
  direct_ = cache == PageCache::kBypass && bypass_cache();
}

#ifdef __APPLE__
bool InputFile::bypass_cache() {
  static_cast<void>(::fcntl(descriptor_, F_NOCACHE, 1));
  return false;  // any read will do
}
#else
// Some file systems refuse the flag, others the reads.
bool InputFile::bypass_cache() {
  const int flags = ::fcntl(descriptor_, F_GETFL);
  if (flags < 0 || ::fcntl(descriptor_, F_SETFL, flags | O_DIRECT) != 0) {
    return false;
  }
  if (::pread(descriptor_, direct_buffer(), kDirectUnit, 0) < 0) {
    static_cast<void>(::fcntl(descriptor_, F_SETFL, flags));
    return false;
  }
  return true;
}
#endif

InputFile::~InputFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)),
      direct_(other.direct_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      identity_(other.identity_) {}

int64_t InputFile::read_some(void* destination, uint64_t offset_bytes, size_t n_bytes) const {
  if (!direct_) {
    return ::pread(descriptor_, destination, std::min(n_bytes, kMaxReadBytes),
                   static_cast<off_t>(offset_bytes));
  }
  const uint64_t skip = offset_bytes % kDirectUnit;
  const size_t wanted =
      std::min((skip + n_bytes + kDirectUnit - 1) / kDirectUnit * kDirectUnit, kDirectBytes);
  void* const buffer = direct_buffer();
  const ssize_t got = ::pread(descriptor_, buffer, wanted, static_cast<off_t>(offset_bytes - skip));
  if (got <= static_cast<ssize_t>(skip)) {
    return std::min<ssize_t>(got, 0);
  }
  const size_t useful = std::min(static_cast<size_t>(got) - skip, n_bytes);
  std::memcpy(destination, static_cast<const char*>(buffer) + skip, useful);
  return static_cast<int64_t>(useful);
}

void InputFile::read(void* destination, uint64_t offset_bytes, size_t n_bytes) const {
  if (offset_bytes > identity_.size_bytes || n_bytes > identity_.size_bytes - offset_bytes) {
    fail(ErrorKind::kBadCheckpoint,
         "{}: expected {} bytes from byte {} on, found a file of {} bytes; it is truncated", path_, n_bytes,
         offset_bytes, identity_.size_bytes);
  }
  auto* to = static_cast<char*>(destination);
  size_t done_bytes = 0;
  while (done_bytes < n_bytes) {
    const int64_t got = read_some(to + done_bytes, offset_bytes + done_bytes, n_bytes - done_bytes);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      fail(ErrorKind::kBadCheckpoint, "{}: reading {} bytes from byte {} on failed: {}", path_, n_bytes,
           offset_bytes, std::strerror(errno));
    }
    if (got == 0) {
      fail(ErrorKind::kBadCheckpoint,
           "{}: the file was truncated while it was being read: expected {} bytes from byte {} on, found {}; "
           "leave a model's files alone while it is in use, then start again",
           path_, n_bytes, offset_bytes, done_bytes);
    }
    done_bytes += static_cast<size_t>(got);
  }
}

void InputFile::check_unchanged() const {
  struct stat open_file {};
  struct stat named_file {};
  const bool known = ::fstat(descriptor_, &open_file) == 0 && ::stat(path_.c_str(), &named_file) == 0;
  if (!known || identity_of(&open_file) != identity_ || identity_of(&named_file) != identity_) {
    fail(ErrorKind::kBadCheckpoint,
         "{}: the file was changed, replaced or removed while the model was in use (expected the {} bytes it "
         "had when opened); leave a model's files alone while it is in use, then start again",
         path_, identity_.size_bytes);
  }
}

#ifdef __APPLE__
void InputFile::advise_sequential() const {}
void InputFile::drop_cached_pages(uint64_t, uint64_t) const {}
#else
void InputFile::advise_sequential() const {
  static_cast<void>(::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL));
}

void InputFile::drop_cached_pages(uint64_t offset_bytes, uint64_t n_bytes) const {
  static_cast<void>(::posix_fadvise(descriptor_, static_cast<off_t>(offset_bytes),
                                    static_cast<off_t>(n_bytes), POSIX_FADV_DONTNEED));
}
#endif

}  // namespace orfebre
