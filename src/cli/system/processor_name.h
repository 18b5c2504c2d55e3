// What the processor calls itself, for reports of measurements.
#pragma once

#include <string>

namespace orfebre::cli {

// "unknown processor" where the system does not say.
std::string processor_name();

}  // namespace orfebre::cli
