// Who uses which block of the KV cache.
#pragma once

#include "engine/shared_pool.h"
#include "spec/step_header.h"

namespace orfebre {

// Blocks that `n_tokens` tokens from position 0 on take.
constexpr int blocks_for(int n_tokens) {
  return (n_tokens + kBlockTokens - 1) / kBlockTokens;
}

class KvPool : public SharedPool {
  using SharedPool::SharedPool;
};

}  // namespace orfebre
