#include "engine/state_slots.h"

#include "base/error.h"

namespace orfebre {

StateSlots::StateSlots(int n_slots) : users_(static_cast<size_t>(n_slots), 0) {
  for (int32_t slot = n_slots - 1; slot >= 0; --slot) {
    free_.push_back(slot);
  }
}

int32_t StateSlots::acquire() {
  ORFEBRE_CHECK(!free_.empty());
  const int32_t slot = free_.back();
  free_.pop_back();
  users_[static_cast<size_t>(slot)] = 1;
  return slot;
}

void StateSlots::share(int32_t slot) {
  ORFEBRE_CHECK(slot >= 0 && slot < n_total() && users_[static_cast<size_t>(slot)] > 0);
  ++users_[static_cast<size_t>(slot)];
}

void StateSlots::release(int32_t slot) {
  ORFEBRE_CHECK(slot >= 0 && slot < n_total() && users_[static_cast<size_t>(slot)] > 0);
  if (--users_[static_cast<size_t>(slot)] == 0) {
    free_.push_back(slot);
  }
}

}  // namespace orfebre
