#include "backend/cpu/panels.h"

#include <cstring>

namespace orfebre::cpu {
namespace {

// The file's row that is repacked as row `row`.
int source_row(MatrixRole role, int row, int n_out) {
  if (role != MatrixRole::kAttnQ) {
    return row;
  }
  const int half = n_out / 2;
  const int within = row % half;
  return within / kHeadDim * 2 * kHeadDim + (row < half ? 0 : kHeadDim) + within % kHeadDim;
}

// Nibbles 0..7 of a word become 0 4 1 5 2 6 3 7: byte j then holds columns j (low) and j + 4 (high).
inline uint32_t pair_nibbles(uint32_t x) {
  const uint32_t bytes = (x ^ (x >> 8)) & 0x0000ff00u;
  x ^= bytes ^ (bytes << 8);
  const uint32_t nibbles = (x ^ (x >> 4)) & 0x00f000f0u;
  return x ^ nibbles ^ (nibbles << 4);
}

struct PanelRows {
  const uint32_t* codes[kPanelRows];  // null past the last row
  const bf16* scales[kPanelRows];
  const bf16* biases[kPanelRows];
};

template <int kBits>
void repack_group(uint8_t* to, const PanelRows& rows, int group) {
  constexpr int kWords = kGroup * kBits / 32;  // of one row's group
  uint32_t words[kWords][kPanelRows] = {};
  uint16_t scales[2][kPanelRows] = {};
  for (int r = 0; r < kPanelRows && rows.codes[r] != nullptr; ++r) {
    const uint32_t* const from = rows.codes[r] + group * kWords;
    for (int i = 0; i < kWords; ++i) {
      words[i][r] = kBits == 4 ? pair_nibbles(from[i]) : from[i];
    }
    scales[0][r] = rows.scales[r][group].bits;
    scales[1][r] = rows.biases[r][group].bits;
  }
  std::memcpy(to, words, sizeof(words));
  std::memcpy(to + sizeof(words), scales, sizeof(scales));
}

void repack_panels(uint8_t* to, MatrixRole role, const AffineTensor& t, int matrix) {
  const int n_groups = t.n_in / kGroup;
  for (int panel = 0; panel < panel_count(t.n_out); ++panel) {
    PanelRows rows{};
    for (int r = 0; r < kPanelRows && panel * kPanelRows + r < t.n_out; ++r) {
      const int from = source_row(role, panel * kPanelRows + r, t.n_out);
      const uint64_t row =
          static_cast<uint64_t>(matrix) * static_cast<uint64_t>(t.n_out) + static_cast<uint64_t>(from);
      rows.codes[r] = t.codes + row * static_cast<uint64_t>(t.n_in * t.bits / 32);
      rows.scales[r] = t.scales + row * static_cast<uint64_t>(n_groups);
      rows.biases[r] = t.biases + row * static_cast<uint64_t>(n_groups);
    }
    for (int group = 0; group < n_groups; ++group, to += group_bytes(t.bits)) {
      t.bits == 4 ? repack_group<4>(to, rows, group) : repack_group<8>(to, rows, group);
    }
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

void repack(uint8_t* to, MatrixRole role, const AffineTensor& tensor) {
  if (role == MatrixRole::kEmbedding) {
    copy_embedding(to, tensor);
    return;
  }
  for (int matrix = 0; matrix < tensor.n_matrices; ++matrix) {
    repack_panels(to, role, tensor, matrix);
    to += panels_bytes(tensor.n_out, tensor.n_in, tensor.bits);
  }
}

}  // namespace orfebre::cpu
