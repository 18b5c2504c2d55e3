// A folder of its own under TMPDIR for the files that a reader under test opens; removed at the end.
#pragma once

#include <string>
#include <string_view>

namespace orfebre::fuzz {

class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  // Replaces the file's content. Ends the run when the disk does not take it.
  void write(const char* name, std::string_view bytes) const;
  void remove(const char* name) const;

 private:
  std::string path_;
};

}  // namespace orfebre::fuzz
