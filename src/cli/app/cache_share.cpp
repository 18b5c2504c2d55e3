#include "cli/app/cache_share.h"

#include <algorithm>

namespace orfebre::cli {
namespace {

constexpr uint64_t kBlocksPerSnapshot = 8;  // 512 tokens: a long turn
constexpr uint64_t kLeastSnapshots = 4;     // of a chat, and of what passes by
constexpr uint64_t kMostByDefault = 32;
constexpr uint64_t kMostSnapshots = 1 << 16;

}  // namespace

CacheShare cache_share(const BackendInfo& backend, const ShapeInfo& shape, uint64_t usable_bytes,
                       double cache_gib) {
  const uint64_t slot_bytes = backend.state_slot_floats * sizeof(float);
  if (cache_gib < 0) {
    return {static_cast<int>(std::clamp(usable_bytes / 32 / slot_bytes, kLeastSnapshots, kMostByDefault)), 0};
  }
  const uint64_t block_bytes = static_cast<uint64_t>(shape.attention_layers()) * backend.kv_block_bytes;
  const auto cache_bytes = static_cast<uint64_t>(cache_gib * 1073741824.0);
  const uint64_t n = std::min(cache_bytes / (slot_bytes + kBlocksPerSnapshot * block_bytes), kMostSnapshots);
  return {static_cast<int>(n), static_cast<int>(n * kBlocksPerSnapshot)};
}

}  // namespace orfebre::cli
