// Who uses which slot of recurrent state. A sequence in flight has two and writes them in turn, so a step
// never overwrites the state that it started from. A slot with several users is only read: a snapshot in the
// prefix cache, and the sequences that start from it. It returns to the pool with the last of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace orfebre {

constexpr int kSlotsPerSequence = 2;

class StateSlots {
 public:
  explicit StateSlots(int n_slots);

  int n_free() const { return static_cast<int>(free_.size()); }
  int n_total() const { return static_cast<int>(users_.size()); }
  int n_users(int32_t slot) const { return users_[static_cast<size_t>(slot)]; }

  // A slot with one user. The caller has made sure that one is free.
  int32_t acquire();
  // One more user of a taken slot.
  void share(int32_t slot);
  void release(int32_t slot);

 private:
  std::vector<int32_t> free_;
  std::vector<int32_t> users_;  // [n_slots]
};

}  // namespace orfebre
