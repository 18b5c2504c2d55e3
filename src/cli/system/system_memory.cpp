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
uint64_t read_number(const std::string& path) {
  std::ifstream file(path);
  uint64_t value = 0;
  return file >> value ? value : kUnlimited;
}

uint64_t kernel_available_bytes(const std::string& root) {
  std::ifstream file(root + "/proc/meminfo");
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
uint64_t group_file_bytes(const std::string& stat_path, const std::string& prefix) {
  std::ifstream file(stat_path);
  uint64_t total = 0;
  std::string key;
  uint64_t bytes = 0;
  while (file >> key >> bytes) {
    if (key == prefix + "inactive_file" || key == prefix + "active_file") {
      total += bytes;
    }
  }
  return total;
}

// The names of one version's files.
struct GroupFiles {
  const char* mount;
  const char* limit;
  const char* used;
  const char* stat_prefix;  // of the lines that count the groups below, too
};
constexpr GroupFiles kVersion2 = {"/sys/fs/cgroup", "/memory.max", "/memory.current", ""};
constexpr GroupFiles kVersion1 = {"/sys/fs/cgroup/memory", "/memory.limit_in_bytes", "/memory.usage_in_bytes",
                                  "total_"};

// What a control group leaves; kUnlimited without a limit.
uint64_t left_in_group(const std::string& folder, const GroupFiles& files) {
  const uint64_t limit = read_number(folder + files.limit);
  const uint64_t counted = read_number(folder + files.used);
  if (limit == kUnlimited || counted == kUnlimited) {
    return kUnlimited;
  }
  const uint64_t used =
      counted - std::min(counted, group_file_bytes(folder + "/memory.stat", files.stat_prefix));
  return limit > used ? limit - used : 0;
}

// The least that the group at `path` and those around it leave. Inside a container the path may be one of the
// host's, of which only the mount's root is to be seen: folders that are absent limit nothing.
uint64_t left_in_groups(const std::string& root, std::string path, const GroupFiles& files) {
  const std::string mount = root + files.mount;
  uint64_t least = left_in_group(mount, files);
  while (path.size() > 1 && path.front() == '/') {
    least = std::min(least, left_in_group(mount + path, files));
    path.resize(path.find_last_of('/'));
  }
  return least;
}

// Lines of /proc/self/cgroup: "0::/path" for version 2, "4:memory:/path" (or "4:cpu,memory:/path") for
// version 1.
uint64_t group_available_bytes(const std::string& root) {
  uint64_t least = std::min(left_in_groups(root, "", kVersion2), left_in_groups(root, "", kVersion1));
  std::ifstream file(root + "/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    const std::string path = line.substr(second + 1);
    if (controllers == ",,") {
      least = std::min(least, left_in_groups(root, path, kVersion2));
    } else if (controllers.find(",memory,") != std::string::npos) {
      least = std::min(least, left_in_groups(root, path, kVersion1));
    }
  }
  return least;
}

uint64_t less_margin(uint64_t available) {
  return available - available / 16;
}

}  // namespace

uint64_t usable_memory_bytes(const std::string& root) {
  return less_margin(std::min(kernel_available_bytes(root), group_available_bytes(root)));
}

uint64_t usable_of_machine(uint64_t memory_bytes) {
  constexpr uint64_t kSystemBytes = uint64_t{3} << 29;  // kernel, desktop at rest
  return less_margin(memory_bytes - std::min(memory_bytes, kSystemBytes));
}

std::string format_bytes(uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (value < 1e6) {
    return fmt::format("{:.1f} kB", value * 1e-3);
  }
  return value < 1e9 ? fmt::format("{:.1f} MB", value * 1e-6) : fmt::format("{:.2f} GB", value * 1e-9);
}

}  // namespace orfebre::cli
