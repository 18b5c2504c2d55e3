// The committed fixtures of tests/data/model: named arrays in the format of tools/fixtures/fixture_file.py.
// tools/fixtures/README.md lists the entries.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace orfebre::test {

class Fixture {
 public:
  // Throws std::runtime_error when the file is missing, cut or of another format.
  explicit Fixture(const std::string& path);

  // Throw std::out_of_range when there is no such entry of that type.
  std::span<const float> floats(const std::string& name) const { return floats_.at(name); }
  std::span<const int32_t> ints(const std::string& name) const { return ints_.at(name); }

 private:
  std::map<std::string, std::vector<float>> floats_;
  std::map<std::string, std::vector<int32_t>> ints_;
};

}  // namespace orfebre::test
