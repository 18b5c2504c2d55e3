// What may be used, on machines and in control groups that are only files.
#include "cli/system/system_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace orfebre::cli {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// A sixteenth is left free.
uint64_t less_margin(uint64_t bytes) {
  return bytes - bytes / 16;
}

class FakeMachine : public ::testing::Test {
 protected:
  FakeMachine() {
    std::string pattern = (std::filesystem::temp_directory_path() / "orfebre-machine-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw std::runtime_error("cannot make a temporary directory");
    }
    root_ = pattern;
    write("/proc/meminfo",
          "MemTotal:       16384 kB\nMemFree:  10 kB\nMemAvailable:   10240 kB\nBuffers: 7 kB\n");
  }
  ~FakeMachine() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  // Version 2: a folder's limit, its use and how much of that is file pages, in MiB.
  void group2(const std::string& path, const std::string& limit, int used, int active = 0, int inactive = 0) {
    const std::string folder = "/sys/fs/cgroup" + path;
    write(folder + "/memory.max", limit + "\n");
    write(folder + "/memory.current", std::to_string(used * kMiB) + "\n");
    write(folder + "/memory.stat", "anon 5\ninactive_file " + std::to_string(inactive * kMiB) +
                                       "\nactive_file " + std::to_string(active * kMiB) + "\nslab 3\n");
  }
  void group1(const std::string& path, uint64_t limit_mib, int used, int total_file) {
    const std::string folder = "/sys/fs/cgroup/memory" + path;
    write(folder + "/memory.limit_in_bytes", std::to_string(limit_mib * kMiB) + "\n");
    write(folder + "/memory.usage_in_bytes", std::to_string(used * kMiB) + "\n");
    write(folder + "/memory.stat", "inactive_file 1\ntotal_inactive_file " +
                                       std::to_string(total_file * kMiB) + "\ntotal_active_file 0\n");
  }
  uint64_t usable() const { return usable_memory_bytes(root_); }

  std::string root_;
};

TEST_F(FakeMachine, WithoutGroupsWhatTheKernelCallsAvailable) {
  EXPECT_EQ(usable(), less_margin(10 * kMiB));
}

TEST_F(FakeMachine, AContainersOwnLimit) {
  group2("", std::to_string(8 * kMiB), 5, 1, 2);  // of 5 MiB in use, 3 are file pages
  EXPECT_EQ(usable(), less_margin(6 * kMiB));
  group2("", "max", 5);
  EXPECT_EQ(usable(), less_margin(10 * kMiB));
  group2("", std::to_string(4 * kMiB), 5);
  EXPECT_EQ(usable(), 0u) << "over the limit already";
  group2("", std::to_string(64 * kMiB), 1);
  EXPECT_EQ(usable(), less_margin(10 * kMiB)) << "the machine has less than the group may have";
}

TEST_F(FakeMachine, TheTightestOfNestedGroups) {
  write("/proc/self/cgroup", "0::/user.slice/app.scope\n");
  group2("/user.slice/app.scope", "max", 1);
  group2("/user.slice", std::to_string(7 * kMiB), 2);
  EXPECT_EQ(usable(), less_margin(5 * kMiB));
  group2("/user.slice/app.scope", std::to_string(4 * kMiB), 1);
  EXPECT_EQ(usable(), less_margin(3 * kMiB));
}

TEST_F(FakeMachine, VersionOne) {
  write("/proc/self/cgroup", "11:cpuset:/elsewhere\n4:hugetlb,memory:/box/inner\n1:name=systemd:/box\n");
  group1("/box/inner", uint64_t{1} << 40, 1, 0);  // version 1 has no word for "no limit"
  EXPECT_EQ(usable(), less_margin(10 * kMiB));
  group1("/box", 6, 5, 3);
  EXPECT_EQ(usable(), less_margin(4 * kMiB));
  group1("/elsewhere", 1, 0, 0);
  EXPECT_EQ(usable(), less_margin(4 * kMiB)) << "that is another controller's path";
}

TEST_F(FakeMachine, APathOfTheHostThatAContainerCannotSee) {
  write("/proc/self/cgroup", "0::/../../system.slice/docker-1234.scope\n");
  group2("", std::to_string(8 * kMiB), 1);
  EXPECT_EQ(usable(), less_margin(7 * kMiB));
}

TEST_F(FakeMachine, BrokenFilesLimitNothing) {
  write("/proc/self/cgroup", "nonsense\n::\n0:\n");
  write("/sys/fs/cgroup/memory.max", "many\n");
  EXPECT_EQ(usable(), less_margin(10 * kMiB));
}

TEST(Machines, LeaveRoomForTheSystem) {
  EXPECT_EQ(usable_of_machine(uint64_t{24} << 30), less_margin((uint64_t{45} << 30) / 2));
  EXPECT_EQ(usable_of_machine(kMiB), 0u);
}

TEST(Words, AmountsOfMemory) {
  EXPECT_EQ(format_bytes(999), "1.0 kB");
  EXPECT_EQ(format_bytes(14'240'000), "14.2 MB");
  EXPECT_EQ(format_bytes(21'345'000'000), "21.35 GB");
}

}  // namespace
}  // namespace orfebre::cli
