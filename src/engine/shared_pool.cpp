#include "engine/shared_pool.h"

#include "base/error.h"

namespace orfebre {

SharedPool::SharedPool(int n_pieces) : users_(static_cast<size_t>(n_pieces), 0) {
  for (int32_t piece = n_pieces - 1; piece >= 0; --piece) {
    free_.push_back(piece);
  }
}

int32_t SharedPool::allocate() {
  ORFEBRE_CHECK(!free_.empty());
  const int32_t piece = free_.back();
  free_.pop_back();
  users_[static_cast<size_t>(piece)] = 1;
  return piece;
}

void SharedPool::share(int32_t piece) {
  ORFEBRE_CHECK(piece >= 0 && piece < n_total() && users_[static_cast<size_t>(piece)] > 0);
  ++users_[static_cast<size_t>(piece)];
}

void SharedPool::release(int32_t piece) {
  ORFEBRE_CHECK(piece >= 0 && piece < n_total() && users_[static_cast<size_t>(piece)] > 0);
  if (--users_[static_cast<size_t>(piece)] == 0) {
    free_.push_back(piece);
  }
}

}  // namespace orfebre
