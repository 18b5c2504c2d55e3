// Which slots of recurrent state are taken. A sequence in flight has two and writes them in turn, so a step
// never overwrites the state that it started from. A snapshot is a slot handed over to another owner.
#pragma once

#include <cstdint>
#include <vector>

namespace orfebre {

constexpr int kSlotsPerSequence = 2;

class StateSlots {
 public:
  explicit StateSlots(int n_slots);

  int n_free() const { return static_cast<int>(free_.size()); }
  int n_total() const { return static_cast<int>(taken_.size()); }

  // The caller has made sure that one is free.
  int32_t acquire();
  void release(int32_t slot);

 private:
  std::vector<int32_t> free_;
  std::vector<bool> taken_;  // [n_slots]
};

}  // namespace orfebre
