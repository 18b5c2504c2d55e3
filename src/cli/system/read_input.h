// Text that a command was given: an argument, or standard input for "-".
#pragma once

#include <string>

namespace orfebre::cli {

// Throws Error(kInvalidRequest) when standard input holds more than 64 MB.
std::string read_argument(const std::string& argument);

}  // namespace orfebre::cli
