// How much of the memory is set aside for the prefix cache, beside what running replies need. (The cache uses
// what they leave free, too.)
#pragma once

#include "backend/backend.h"

#include <cstdint>

namespace orfebre::cli {

struct CacheShare {
  int n_snapshots = 0;
  int n_kv_blocks = 0;
};

// `cache_gib` as in ModelOptions. By default a thirty-second of the memory for at most 32 states, whose KV
// blocks are those that running replies leave free: their pool is made for whole contexts.
CacheShare cache_share(const BackendInfo& backend, const ShapeInfo& shape, uint64_t usable_bytes,
                       double cache_gib);

}  // namespace orfebre::cli
