// Ids of equal pieces of memory, and how many users each has. The memory is the model's: a pool only says who
// uses which piece. A piece may have several users, and returns to the pool with the last of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace orfebre {

class SharedPool {
 public:
  explicit SharedPool(int n_pieces);

  int n_free() const { return static_cast<int>(free_.size()); }
  int n_total() const { return static_cast<int>(users_.size()); }
  int n_users(int32_t piece) const { return users_[static_cast<size_t>(piece)]; }

  // A piece with one user. The caller has made sure that one is free.
  int32_t allocate();
  // One more user of an allocated piece.
  void share(int32_t piece);
  void release(int32_t piece);

 private:
  std::vector<int32_t> free_;
  std::vector<int32_t> users_;  // [n_pieces]
};

}  // namespace orfebre
