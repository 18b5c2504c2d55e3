#include "base/error.h"

#include <cstdio>
#include <cstdlib>

namespace orfebre {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: internal check failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace orfebre
