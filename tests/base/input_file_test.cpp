// InputFile while other processes shorten, replace or remove the file: always an ordinary error.
#include "base/input_file.h"

#include "base/error.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
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
