// Where a command's model is: the directory that the user named, or the demo model that ships with orfebre.
#pragma once

#include <string>

namespace orfebre::cli {

// `named` if not empty, else the demo model: <prefix>/share/orfebre/models/demo beside an installed program,
// else the source tree that it was built from. Throws Error(kNotFound) when it is no directory.
std::string resolve_model_dir(const std::string& named);

// A name for people and for the API: the directory's last part.
std::string model_dir_name(const std::string& directory);

}  // namespace orfebre::cli
