#include "cli/system/system_memory.h"

#include <fmt/core.h>

#include <unistd.h>
#include <algorithm>
#include <fstream>
#include <limits>

namespace orfebre::cli {
namespace {

constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

// A file that holds one number; kUnlimited when it is absent or says "max".
uint64_t read_number(const char* path) {
  std::ifstream file(path);
  uint64_t value = 0;
  return file >> value ? value : kUnlimited;
}

uint64_t kernel_available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  uint64_t kib = 0;
  std::string unit;
  while (file >> key >> kib) {
    std::getline(file, unit);
    if (key == "MemAvailable:") {
      return kib * 1024;
    }
  }
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes)
                                     : kUnlimited;
}

// Pages of files that the group's memory count includes and the kernel can take back.
uint64_t group_file_bytes(const char* stat_path) {
  std::ifstream file(stat_path);
  uint64_t total = 0;
  std::string key;
  uint64_t bytes = 0;
  while (file >> key >> bytes) {
    if (key == "inactive_file" || key == "active_file") {
      total += bytes;
    }
  }
  return total;
}

// What the container's own limit leaves, control groups version 2, then 1.
uint64_t group_available_bytes() {
  struct Files {
    const char* limit;
    const char* used;
    const char* stat;
  };
  for (const Files& files :
       {Files{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat"},
        Files{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes",
              "/sys/fs/cgroup/memory/memory.stat"}}) {
    const uint64_t limit = read_number(files.limit);
    const uint64_t counted = read_number(files.used);
    if (limit != kUnlimited && counted != kUnlimited) {
      const uint64_t used = counted - std::min(counted, group_file_bytes(files.stat));
      return limit > used ? limit - used : 0;
    }
  }
  return kUnlimited;
}

}  // namespace

uint64_t usable_memory_bytes() {
  const uint64_t available = std::min(kernel_available_bytes(), group_available_bytes());
  return available - available / 16;
}

std::string format_bytes(uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (value < 1e6) {
    return fmt::format("{:.1f} kB", value * 1e-3);
  }
  return value < 1e9 ? fmt::format("{:.1f} MB", value * 1e-6) : fmt::format("{:.2f} GB", value * 1e-9);
}

}  // namespace orfebre::cli
