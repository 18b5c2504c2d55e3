#include "cli/system/processor_name.h"

#include <fstream>

namespace orfebre::cli {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("model name")) {
      return line.substr(line.find(':') + 2);
    }
  }
  return "unknown processor";
}

}  // namespace orfebre::cli
