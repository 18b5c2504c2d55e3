#include "backend/cpu/panels.h"

#include <algorithm>
#include <cstring>

namespace orfebre::cpu {
namespace {

// Where the file's row `row` of a matrix goes.
int target_row(MatrixRole role, int row, int n_out) {
  if (role != MatrixRole::kAttnQ) {
    return row;
  }
  const int head = row / (2 * kHeadDim);
  const bool is_gate = row % (2 * kHeadDim) >= kHeadDim;
  return (is_gate ? n_out / 2 : 0) + head * kHeadDim + row % kHeadDim;
}

using Words = uint32_t __attribute__((vector_size(16)));  // SSE2 and NEON alike

// Nibbles 0..7 of a word become 0 4 1 5 2 6 3 7: byte j then holds columns j (low) and j + 4 (high).
inline Words pair_nibbles(Words x) {
  const Words bytes = (x ^ (x >> 8)) & 0x0000ff00u;
  x ^= bytes ^ (bytes << 8);
  const Words nibbles = (x ^ (x >> 4)) & 0x00f000f0u;
  return x ^ nibbles ^ (nibbles << 4);
}

// The rows of one panel: row r's codes at codes + r * code_stride, and so on; those from n_rows on are zero.
struct PanelRows {
  const uint32_t* codes;
  const bf16* scales;
  const bf16* biases;
  int code_stride;
  int n_groups;
  int n_rows;
};

// Words 4 i..4 i + 3 of a group of rows 4 b..4 b + 3, transposed.
template <int kBits>
inline void repack_square(uint8_t* to, const PanelRows& rows, const uint32_t* from, int b) {
  Words in[4] = {};
  for (int r = 0; r < 4; ++r) {
    if (4 * b + r < rows.n_rows) {
      std::memcpy(&in[r], from + (4 * b + r) * static_cast<int64_t>(rows.code_stride), sizeof(Words));
    }
  }
  const Words low01 = __builtin_shufflevector(in[0], in[1], 0, 4, 1, 5);
  const Words high01 = __builtin_shufflevector(in[0], in[1], 2, 6, 3, 7);
  const Words low23 = __builtin_shufflevector(in[2], in[3], 0, 4, 1, 5);
  const Words high23 = __builtin_shufflevector(in[2], in[3], 2, 6, 3, 7);
  const Words out[4] = {__builtin_shufflevector(low01, low23, 0, 1, 4, 5),
                        __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
                        __builtin_shufflevector(high01, high23, 0, 1, 4, 5),
                        __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
  for (int i = 0; i < 4; ++i) {
    const Words word = kBits == 4 ? pair_nibbles(out[i]) : out[i];
    std::memcpy(to + i * 4 * kPanelRows, &word, sizeof(Words));
  }
}

template <int kBits>
void repack_group(uint8_t* to, const PanelRows& rows, int group) {
  constexpr int kWords = kGroup * kBits / 32;  // of one row's group
  const uint32_t* const from = rows.codes + group * kWords;
  for (int i = 0; i < kWords; i += 4) {
    for (int b = 0; b < kPanelRows / 4; ++b) {
      repack_square<kBits>(to + (i * kPanelRows + 4 * b) * 4, rows, from + i, b);
    }
  }
  uint16_t factors[2][kPanelRows] = {};
  for (int r = 0; r < rows.n_rows; ++r) {
    factors[0][r] = rows.scales[r * rows.n_groups + group].bits;
    factors[1][r] = rows.biases[r * rows.n_groups + group].bits;
  }
  std::memcpy(to + code_bytes(kBits), factors, sizeof(factors));
}

void repack_panel(uint8_t* to, const PanelRows& rows, int bits) {
  for (int group = 0; group < rows.n_groups; ++group, to += group_bytes(bits)) {
    bits == 4 ? repack_group<4>(to, rows, group) : repack_group<8>(to, rows, group);
  }
}

void copy_embedding(uint8_t* to, const AffineTensor& t) {
  const size_t codes = static_cast<size_t>(t.n_in * t.bits / 8);
  const size_t groups = static_cast<size_t>(t.n_in / kGroup);
  for (size_t row = 0; row < static_cast<size_t>(t.n_out); ++row, to += embedding_row_bytes(t.n_in, t.bits)) {
    std::memcpy(to, t.codes + row * codes / 4, codes);
    std::memcpy(to + codes, t.scales + row * groups, groups * 2);
    std::memcpy(to + codes + groups * 2, t.biases + row * groups, groups * 2);
  }
}

}  // namespace

uint64_t repacked_bytes(MatrixRole role, int n_matrices, int n_out, int n_in, int bits) {
  if (role == MatrixRole::kEmbedding) {
    return static_cast<uint64_t>(n_out) * embedding_row_bytes(n_in, bits);
  }
  return static_cast<uint64_t>(n_matrices) * panels_bytes(n_out, n_in, bits);
}

void repack_rows(uint8_t* to, MatrixRole role, int n_out, int first_row, const AffineTensor& rows) {
  if (role == MatrixRole::kEmbedding) {
    copy_embedding(to + static_cast<uint64_t>(first_row) * embedding_row_bytes(rows.n_in, rows.bits), rows);
    return;
  }
  const int n_rows = rows.n_matrices * rows.n_out;
  const int n_groups = rows.n_in / kGroup;
  const int code_stride = rows.n_in * rows.bits / 32;
  for (int done = 0; done < n_rows;) {
    const int matrix = (first_row + done) / n_out;
    const int within = (first_row + done) % n_out;
    const int count = std::min({kPanelRows, n_out - within, n_rows - done});
    const auto groups_before = static_cast<int64_t>(done) * n_groups;
    const PanelRows panel{rows.codes + static_cast<int64_t>(done) * code_stride,
                          rows.scales + groups_before,
                          rows.biases + groups_before,
                          code_stride,
                          n_groups,
                          count};
    const auto index =
        static_cast<uint64_t>(matrix * panel_count(n_out) + target_row(role, within, n_out) / kPanelRows);
    repack_panel(to + index * panel_bytes(rows.n_in, rows.bits), panel, rows.bits);
    done += count;
  }
}

}  // namespace orfebre::cpu
