#include "support/fixture.h"

#include <array>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace orfebre::test {
namespace {

constexpr std::array<char, 8> kMagic = {'O', 'R', 'F', 'X', 'F', 'I', 'X', '1'};

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), in_(path, std::ios::binary) {}

  void read(void* to, size_t bytes) {
    if (!in_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes))) {
      throw std::runtime_error("fixture " + path_ + ": missing or cut");
    }
  }
  uint32_t read_u32() {
    uint32_t value = 0;
    read(&value, sizeof value);
    return value;
  }

 private:
  std::string path_;
  std::ifstream in_;
};

}  // namespace

Fixture::Fixture(const std::string& path) {
  Reader reader(path);
  std::array<char, 8> magic{};
  reader.read(magic.data(), magic.size());
  if (magic != kMagic) {
    throw std::runtime_error("fixture " + path + ": not a fixture file");
  }
  const uint32_t n_entries = reader.read_u32();
  for (uint32_t entry = 0; entry < n_entries; ++entry) {
    std::string name(reader.read_u32(), '\0');
    reader.read(name.data(), name.size());
    const bool is_int = reader.read_u32() == 1;
    const uint32_t n_dims = reader.read_u32();
    size_t size = 1;
    for (uint32_t d = 0; d < n_dims; ++d) {
      size *= reader.read_u32();
    }
    if (is_int) {
      ints_[name].resize(size);
      reader.read(ints_[name].data(), size * sizeof(int32_t));
    } else {
      floats_[name].resize(size);
      reader.read(floats_[name].data(), size * sizeof(float));
    }
  }
}

}  // namespace orfebre::test
