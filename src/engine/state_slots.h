// Who uses which slot of recurrent state. A sequence in flight has two and writes them in turn, so a step
// never overwrites the state that it started from. A slot with several users is only read: a snapshot in the
// prefix cache, and the sequences that start from it.
#pragma once

#include "engine/shared_pool.h"

namespace orfebre {

constexpr int kSlotsPerSequence = 2;

class StateSlots : public SharedPool {
  using SharedPool::SharedPool;
};

}  // namespace orfebre
