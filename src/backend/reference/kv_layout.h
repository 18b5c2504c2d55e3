// Where a position's k and v lie in the reference backend's cache: a block is f32 [2 (k, v), 64 tokens, 2
// heads, 256].
#pragma once

#include "backend/params.h"
#include "spec/shape.h"

namespace orfebre::reference {

constexpr int kKvRowFloats = CommonShape::kKvHeads * CommonShape::kHeadDim;
constexpr int kKvBlockFloats = 2 * kBlockTokens * kKvRowFloats;

struct KvRow {
  int64_t k;  // offsets in floats of [2 heads, 256] from the layer's first block
  int64_t v;
};

inline KvRow kv_row(const StepHeader& step, const StepSequence& sequence, int position) {
  const int32_t block = step.block_tables[sequence.block_table + position / kBlockTokens];
  const int64_t k = int64_t{block} * kKvBlockFloats + (position % kBlockTokens) * kKvRowFloats;
  return {k, k + kBlockTokens * kKvRowFloats};
}

}  // namespace orfebre::reference
