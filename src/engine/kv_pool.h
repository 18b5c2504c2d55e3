// Who uses which block of the KV cache. Blocks are ids: their memory is the model's. A block may have several
// users, and returns to the pool with the last of them.
#pragma once

#include "spec/step_header.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace orfebre {

// Blocks that `n_tokens` tokens from position 0 on take.
constexpr int blocks_for(int n_tokens) {
  return (n_tokens + kBlockTokens - 1) / kBlockTokens;
}

class KvPool {
 public:
  explicit KvPool(int n_blocks);

  int n_free() const { return static_cast<int>(free_.size()); }
  int n_total() const { return static_cast<int>(users_.size()); }
  int n_users(int32_t block) const { return users_[static_cast<size_t>(block)]; }

  // A block with one user. The caller has made sure that one is free.
  int32_t allocate();
  // One more user of an allocated block.
  void share(int32_t block);
  void release(int32_t block);

 private:
  std::vector<int32_t> free_;
  std::vector<int32_t> users_;  // [n_blocks]
};

}  // namespace orfebre
