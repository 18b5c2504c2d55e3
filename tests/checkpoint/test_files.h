// Files for the tests of this folder: a directory that disappears, raw safetensors files, expected errors.
#pragma once

#include "base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace orfebre {

class TempDirectory {
 public:
  TempDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "orfebre-test-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
  }
  ~TempDirectory() { std::filesystem::remove_all(path_); }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

  // A new file under this name. (Truncating the old one instead makes ext4 flush, which is slow.)
  void write(const std::string& name, const std::string& content) const {
    std::filesystem::remove(file(name));
    overwrite(name, content);
  }
  // The same file with new content.
  void overwrite(const std::string& name, const std::string& content) const {
    std::ofstream out(file(name), std::ios::binary | std::ios::trunc);
    out << content;
    ASSERT_TRUE(out.good());
  }
  std::string read(const std::string& name) const {
    std::ifstream in(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

 private:
  std::string path_;
};

// The bytes of a safetensors file with this header text and data, nothing checked.
inline std::string raw_safetensors(const std::string& header, const std::string& data) {
  const uint64_t header_bytes = header.size();
  std::string text(reinterpret_cast<const char*>(&header_bytes), sizeof(header_bytes));
  return text + header + data;
}

// Runs `action` and expects an Error of this kind whose text contains every one of `parts`.
template <typename Action>
void expect_error(ErrorKind kind, const std::vector<std::string>& parts, Action action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    for (const std::string& part : parts) {
      EXPECT_THAT(std::string(error.what()), testing::HasSubstr(part));
    }
    return;
  }
  ADD_FAILURE() << "no error, expected one with: " << testing::PrintToString(parts);
}

}  // namespace orfebre
