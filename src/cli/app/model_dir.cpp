#include "cli/app/model_dir.h"

#include "base/error.h"

#include <filesystem>
#include <system_error>

namespace orfebre::cli {
namespace {

namespace fs = std::filesystem;

// The running program's path, links resolved; empty where the system does not tell.
fs::path program_path() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error);
}

}  // namespace

std::string resolve_model_dir(const std::string& named) {
  std::error_code error;
  if (!named.empty()) {
    if (!fs::is_directory(named, error)) {
      fail(ErrorKind::kNotFound, "--model {}: no such directory; name the folder that holds config.json",
           named);
    }
    return named;
  }
  const fs::path installed = program_path().parent_path().parent_path() / "share/orfebre/models/demo";
  for (const fs::path& candidate : {installed, fs::path(ORFEBRE_SOURCE_MODEL_DIR)}) {
    if (fs::is_directory(candidate, error)) {
      return candidate.string();
    }
  }
  fail(ErrorKind::kNotFound, "the demo model is neither in {} nor in {}; name a model with --model",
       installed.string(), ORFEBRE_SOURCE_MODEL_DIR);
}

std::string model_dir_name(const std::string& directory) {
  const fs::path path = fs::weakly_canonical(directory);
  return path.filename().string();
}

}  // namespace orfebre::cli
