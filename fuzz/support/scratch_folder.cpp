#include "support/scratch_folder.h"

#include "base/error.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace orfebre::fuzz {

ScratchFolder::ScratchFolder() : path_(std::filesystem::temp_directory_path() / "orfebre-fuzz-XXXXXX") {
  ORFEBRE_CHECK(::mkdtemp(path_.data()) != nullptr);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void ScratchFolder::write(const char* name, std::string_view bytes) const {
  const std::string path = path_ + "/" + name;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  ORFEBRE_CHECK(file >= 0);
  ORFEBRE_CHECK(::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  ::close(file);
}

void ScratchFolder::remove(const char* name) const {
  ::unlink((path_ + "/" + name).c_str());
}

}  // namespace orfebre::fuzz
