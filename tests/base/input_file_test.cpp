// InputFile while other processes shorten, replace or remove the file: always an ordinary error.
#include "base/input_file.h"

#include "base/error.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>

namespace orfebre {
namespace {

class InputFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "orfebre-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    path_ = directory_ + "/file";
    std::ofstream(path_) << "0123456789";
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string directory_;
  std::string path_;
};

ErrorKind kind_of(const std::string& path) {
  try {
    InputFile file(path);
  } catch (const Error& error) {
    return error.kind();
  }
  return ErrorKind::kInternal;
}

TEST_F(InputFileTest, ReadsExactlyWhatIsAsked) {
  const InputFile file(path_);
  EXPECT_EQ(file.size_bytes(), 10u);
  char text[5] = "????";
  file.read(text, 3, 4);
  EXPECT_STREQ(text, "3456");
  file.read(text, 10, 0);
  EXPECT_STREQ(text, "3456");
}

// In the folder of the build, which is a disk: in memory there is no cache to go past.
TEST(InputFilePastTheCache, GivesTheBytesOfAnyRange) {
  const std::string path = std::filesystem::current_path() / "orfebre-direct-test";
  std::mt19937 random(5);
  std::string content((size_t{5} << 19) + 1234, 0);
  std::generate(content.begin(), content.end(), [&] { return static_cast<char>(random()); });
  std::ofstream(path, std::ios::binary) << content;
  const InputFile file(path, PageCache::kBypass);
  const auto expect_range = [&](size_t offset, size_t n_bytes) {
    std::string found(n_bytes + 2, '?');
    std::string expected = found;
    content.copy(expected.data() + 1, n_bytes, offset);
    file.read(found.data() + 1, offset, n_bytes);
    EXPECT_TRUE(found == expected) << offset << " + " << n_bytes;
  };
  for (int i = 0; i < 40; ++i) {
    const size_t offset = random() % content.size();
    expect_range(offset,
                 random() % std::min<size_t>(content.size() - offset, i % 2 == 0 ? 9000 : content.size()));
  }
  expect_range(0, content.size());
  expect_range(content.size() - 1, 1);
  expect_range(content.size(), 0);
  std::filesystem::resize_file(path, 8192);
  std::string rest(100, '?');
  file.read(rest.data(), 8092, 100);
  EXPECT_EQ(rest, content.substr(8092, 100));
  EXPECT_THROW(file.read(rest.data(), 8093, 100), Error);
  EXPECT_THROW(file.read(rest.data(), 100000, 100), Error);
  std::filesystem::remove(path);
}

TEST_F(InputFileTest, RefusesRangesOutsideTheFile) {
  const InputFile file(path_);
  char byte = '?';
  EXPECT_THROW(file.read(&byte, 10, 1), Error);
  EXPECT_THROW(file.read(&byte, 9, 2), Error);
  EXPECT_THROW(file.read(&byte, ~uint64_t{0}, 1), Error);
  EXPECT_THROW(file.read(&byte, 5, ~size_t{0}), Error);
  EXPECT_EQ(byte, '?');
}

TEST_F(InputFileTest, MissingFilesAndDirectories) {
  EXPECT_EQ(kind_of(directory_ + "/none"), ErrorKind::kNotFound);
  EXPECT_EQ(kind_of(directory_), ErrorKind::kBadCheckpoint);
  EXPECT_EQ(kind_of("/dev/null"), ErrorKind::kBadCheckpoint);
}

TEST_F(InputFileTest, MovingKeepsTheFileOpen) {
  InputFile first(path_);
  const InputFile second(std::move(first));
  char byte = '?';
  second.read(&byte, 7, 1);
  EXPECT_EQ(byte, '7');
  second.check_unchanged();
}

TEST_F(InputFileTest, AShorterFileIsAnErrorNotASignal) {
  const InputFile file(path_);
  std::filesystem::resize_file(path_, 4);
  char text[10];
  EXPECT_THROW(file.read(text, 0, 10), Error);
  EXPECT_THROW(file.check_unchanged(), Error);
}

TEST_F(InputFileTest, FollowsLinks) {
  std::filesystem::create_symlink("file", directory_ + "/link");
  const InputFile file(directory_ + "/link");
  EXPECT_EQ(file.size_bytes(), 10u);
  file.check_unchanged();
}

}  // namespace
}  // namespace orfebre
