// A read-only regular file that other processes may truncate, rewrite or replace at any time.
//
// Owns: one descriptor, and the identity (device, inode, size, time of change) that the file had when opened.
// Does not own: any mapping. Weights are read by pread into the caller's memory, because a page of a mapped
// file that has shrunk raises SIGBUS, while a short read is an ordinary error. Every backend repacks weights
// while loading, so the copy costs nothing: it is the copy into the backend's own layout.
//
// Thread-safe: any number of threads may read at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace orfebre {

// Whether reads go through the kernel's cache of file pages. Going past it is right for a file larger than
// the memory that is left: its pages would push out each other, and making them costs more than the read.
enum class PageCache { kUse, kBypass };

class InputFile {
 public:
  // Throws Error(kNotFound) when the file cannot be opened, Error(kBadCheckpoint) when it is no regular file.
  // Where the file system knows no way past the cache, the cache is used.
  explicit InputFile(const std::string& path, PageCache cache = PageCache::kUse);
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  InputFile& operator=(InputFile&&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size_bytes() const { return identity_.size_bytes; }

  // Fills destination[0, n_bytes) from offset_bytes. Throws Error(kBadCheckpoint) when the file ends earlier.
  void read(void* destination, uint64_t offset_bytes, size_t n_bytes) const;

  // Throws Error(kBadCheckpoint) when the open file, or the file now under path(), is not the one that was
  // opened: other device or inode, other size, or modified since.
  void check_unchanged() const;

  // Hints to the kernel; failures are ignored.
  void advise_sequential() const;
  void drop_cached_pages(uint64_t offset_bytes, uint64_t n_bytes) const;

 private:
  struct Identity {
    uint64_t device = 0;
    uint64_t inode = 0;
    uint64_t size_bytes = 0;
    int64_t modified_seconds = 0;
    int64_t modified_nanoseconds = 0;
    bool operator==(const Identity&) const = default;
  };
  static Identity identity_of(const void* stat_result);
  bool bypass_cache();
  // One pread or less: how many of n_bytes came, 0 at the file's end, -1 with errno.
  int64_t read_some(void* destination, uint64_t offset_bytes, size_t n_bytes) const;

  std::string path_;
  bool direct_ = false;  // reads must begin, end and land at multiples of a page
  int descriptor_ = -1;
  Identity identity_;
};

}  // namespace orfebre
