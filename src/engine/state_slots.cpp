#include "engine/state_slots.h"

#include "base/error.h"

namespace orfebre {

StateSlots::StateSlots(int n_slots) : taken_(static_cast<size_t>(n_slots), false) {
  for (int32_t slot = n_slots - 1; slot >= 0; --slot) {
    free_.push_back(slot);
  }
}

int32_t StateSlots::acquire() {
  ORFEBRE_CHECK(!free_.empty());
  const int32_t slot = free_.back();
  free_.pop_back();
  taken_[static_cast<size_t>(slot)] = true;
  return slot;
}

void StateSlots::release(int32_t slot) {
  ORFEBRE_CHECK(slot >= 0 && slot < n_total() && taken_[static_cast<size_t>(slot)]);
  taken_[static_cast<size_t>(slot)] = false;
  free_.push_back(slot);
}

}  // namespace orfebre
