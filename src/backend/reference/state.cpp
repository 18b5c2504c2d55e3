// A state slot's floats to another slot.
#include "backend/reference/ops.h"

#include <algorithm>

namespace orfebre::reference {

void copy_state(float* to, const float* from, uint64_t floats) {
  std::copy_n(from, floats, to);
}

}  // namespace orfebre::reference
