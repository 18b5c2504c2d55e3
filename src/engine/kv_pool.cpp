#include "engine/kv_pool.h"

#include "base/error.h"

namespace orfebre {

KvPool::KvPool(int n_blocks) : users_(static_cast<size_t>(n_blocks), 0) {
  for (int32_t block = n_blocks - 1; block >= 0; --block) {
    free_.push_back(block);
  }
}

int32_t KvPool::allocate() {
  ORFEBRE_CHECK(!free_.empty());
  const int32_t block = free_.back();
  free_.pop_back();
  users_[static_cast<size_t>(block)] = 1;
  return block;
}

void KvPool::share(int32_t block) {
  ORFEBRE_CHECK(block >= 0 && block < n_total() && users_[static_cast<size_t>(block)] > 0);
  ++users_[static_cast<size_t>(block)];
}

void KvPool::release(int32_t block) {
  ORFEBRE_CHECK(block >= 0 && block < n_total() && users_[static_cast<size_t>(block)] > 0);
  if (--users_[static_cast<size_t>(block)] == 0) {
    free_.push_back(block);
  }
}

}  // namespace orfebre
