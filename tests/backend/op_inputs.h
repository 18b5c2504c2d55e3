// Random inputs for tests of single ops: tensors, activations and steps, all from a seed.
#pragma once

#include "backend/backend.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace orfebre::test {

constexpr float kPoison = std::numeric_limits<float>::quiet_NaN();

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  float normal() { return normal_(engine_); }
  int below(int n) { return static_cast<int>(engine_() % static_cast<uint32_t>(n)); }
  uint32_t word() { return static_cast<uint32_t>(engine_()); }
  std::vector<float> floats(size_t n, float scale = 1.0f, float offset = 0.0f) {
    std::vector<float> values(n);
    for (float& value : values) {
      value = offset + scale * normal();
    }
    return values;
  }

 private:
  std::mt19937 engine_;
  std::normal_distribution<float> normal_;
};

// An affine tensor with outputs of order 1 for inputs of order 1; some scales are negative.
struct RandomTensor {
  std::vector<uint32_t> codes;
  std::vector<bf16> scales;
  std::vector<bf16> biases;
  AffineTensor view;

  RandomTensor(Random& random, int n_matrices, int n_out, int n_in, int bits) {
    const size_t weights =
        static_cast<size_t>(n_matrices) * static_cast<size_t>(n_out) * static_cast<size_t>(n_in);
    codes.resize(weights * static_cast<size_t>(bits) / 32);
    for (uint32_t& code : codes) {
      code = random.word();
    }
    const float levels = static_cast<float>((1 << bits) - 1);
    const float size = 3.0f / (levels * std::sqrt(static_cast<float>(n_in)));
    for (size_t i = 0; i < weights / 64; ++i) {
      const float sign = random.below(4) == 0 ? -1.0f : 1.0f;
      const float scale = sign * size * (0.5f + 0.01f * static_cast<float>(random.below(100)));
      scales.push_back(to_bf16(scale));
      biases.push_back(to_bf16(-scale * levels * (0.3f + 0.004f * static_cast<float>(random.below(100)))));
    }
    view = {n_matrices, n_out, n_in, bits, codes.data(), scales.data(), biases.data(), nullptr, nullptr};
  }

  // Element (row, column) of a matrix as the file means it.
  double at(int matrix, int row, int column) const {
    const size_t r = static_cast<size_t>(matrix) * static_cast<size_t>(view.n_out) + static_cast<size_t>(row);
    const size_t per_word = 32u / static_cast<size_t>(view.bits);
    const size_t words = static_cast<size_t>(view.n_in) / per_word;
    const uint32_t word = codes[r * words + static_cast<size_t>(column) / per_word];
    const uint32_t code = word >> (static_cast<size_t>(column) % per_word * static_cast<size_t>(view.bits)) &
                          ((1u << view.bits) - 1u);
    const size_t group = r * static_cast<size_t>(view.n_in / 64) + static_cast<size_t>(column / 64);
    return static_cast<double>(to_f32(scales[group])) * code + static_cast<double>(to_f32(biases[group]));
  }
};

// A step of one sequence with its blocks in descending order; slot 0 is read (unless fresh), slot 1 written.
inline Step one_sequence(int n_rows, int first_position, bool fresh) {
  Step step;
  step.kind = n_rows <= kMaxDecodeRows ? StepKind::kDecode : StepKind::kPrefill;
  for (int i = 0; i < n_rows; ++i) {
    step.rows.push_back({(i * 37 + 5) % 512, first_position + i, 0});
  }
  step.sequences.push_back({0, n_rows, 0, fresh ? kNoState : 0, 1, n_rows, 0});
  const int n_blocks = (first_position + n_rows + kBlockTokens - 1) / kBlockTokens;
  for (int b = 0; b < n_blocks; ++b) {
    step.block_tables.push_back(n_blocks - 1 - b);
  }
  for (int i = 0; i < n_rows && i < kMaxDecodeRows; ++i) {
    step.logit_rows.push_back(n_rows <= kMaxDecodeRows ? i : i * (n_rows / kMaxDecodeRows));
  }
  return step;
}

}  // namespace orfebre::test
