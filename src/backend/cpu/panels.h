// The memory layouts that kernels and ops of this backend share, as arithmetic on offsets: weight panels,
// quantised activations, KV blocks, delta states. Repacking is in panels.cpp.
#pragma once

#include "backend/backend.h"

#include <cstdint>

namespace orfebre::cpu {

// Weights. 16 rows of a matrix form a panel; a panel is its groups of 64 columns, one after another; a group
// is
//   codes   4 bits: 8 x 64 bytes. Vector i holds, for row r in bytes 4r..4r+3, the columns 8i..8i+3 in the
//   low
//           nibbles and 8i+4..8i+7 in the high ones.
//           8 bits: 16 x 64 bytes. Vector i holds, for row r in bytes 4r..4r+3, the columns 4i..4i+3.
//   scales  16 bf16, one a row
//   biases  16 bf16, one a row
// so one broadcast of 4 activations meets 16 rows, no lane is ever added to another, and a GEMV reads memory
// strictly forwards. Rows past n_out are zero. The embedding is not multiplied: it keeps its rows, see below.
constexpr int kGroup = 64;
constexpr int kPanelRows = 16;

constexpr uint64_t code_bytes(int bits) {
  return static_cast<uint64_t>(kPanelRows * kGroup * bits / 8);
}
constexpr uint64_t group_bytes(int bits) {
  return code_bytes(bits) + 2u * kPanelRows * 2u;
}
constexpr int panel_count(int n_out) {
  return (n_out + kPanelRows - 1) / kPanelRows;
}
constexpr uint64_t panel_bytes(int n_in, int bits) {
  return static_cast<uint64_t>(n_in / kGroup) * group_bytes(bits);
}
constexpr uint64_t panels_bytes(int n_out, int n_in, int bits) {
  return static_cast<uint64_t>(panel_count(n_out)) * panel_bytes(n_in, bits);
}

// The embedding: rows one after another, each its codes as in the file, then its scales, then its biases.
constexpr uint64_t embedding_row_bytes(int n_in, int bits) {
  return static_cast<uint64_t>(n_in * bits / 8 + n_in / kGroup * 4);
}

// A quantised activation row of n_in values: x = step * (128 * high + low), |128 * high + low| <= 16256.
// For each group 64 high bytes, then 64 low bytes; then a f32 step for each group; then the f32 sum of the
// group's unquantised x, which multiplies the weights' biases.
constexpr uint64_t quantized_codes_bytes(int n_in) {
  return 2u * static_cast<uint64_t>(n_in);
}
constexpr uint64_t quantized_row_bytes(int n_in) {
  return (quantized_codes_bytes(n_in) + static_cast<uint64_t>(n_in / kGroup) * 8u + 63u) / 64u * 64u;
}

// A KV block: for each KV head, K as [4 runs of 16 tokens][256][16 tokens] f16, then V as [64 tokens][256]
// f16.
constexpr int kHeadDim = CommonShape::kHeadDim;
constexpr int kHeadsPerKvHead = CommonShape::kQueryHeads / CommonShape::kKvHeads;
constexpr uint64_t kKvHeadBytes = 2u * kBlockTokens * kHeadDim * 2u;
constexpr uint64_t kKvBlockBytes = CommonShape::kKvHeads * kKvHeadBytes;

// A delta state: for each value head, 4 strips of 32 value columns, each [128 (key), 32] f32: a strip stays
// in the L1 cache while it meets all rows of a step.
constexpr int kDeltaDim = CommonShape::kDeltaHeadDim;
constexpr int kStripColumns = 32;
constexpr int kStripFloats = kDeltaDim * kStripColumns;
constexpr int kDeltaHeadFloats = kDeltaDim * kDeltaDim;

// Bytes of a repacked matrix, or of `n_matrices` of them.
uint64_t repacked_bytes(MatrixRole role, int n_matrices, int n_out, int n_in, int bits);

// Writes the rows [first_row, first_row + rows.n_out) of a matrix of `n_out` rows, or of a stack of them,
// into `to`, the repacked whole; `rows` has 4 or 8 bits, first_row is a multiple of kPanelRows. The rows of
// kAttnQ, which the file interleaves by head, are reordered: all query rows, then all gate rows.
void repack_rows(uint8_t* to, MatrixRole role, int n_out, int first_row, const AffineTensor& rows);

}  // namespace orfebre::cpu
