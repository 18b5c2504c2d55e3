#include "backend/reference/arithmetic.h"

#include "base/dtype.h"
#include "spec/shape.h"

#include <algorithm>

namespace orfebre::reference {
namespace {

constexpr int kLanes = 16;
constexpr int kGroup = CommonShape::kQuantGroup;

// out [64] = scale * code + bias of one group; `words` holds its codes, lowest bits first.
void dequantise_group(float* out, const uint32_t* words, int bits, float scale, float bias) {
  const int codes_per_word = 32 / bits;
  const uint32_t code_mask = (1u << bits) - 1u;
  int32_t codes[kGroup];
  for (int i = 0; i < kGroup; ++i) {
    const uint32_t word = words[i / codes_per_word];
    codes[i] = static_cast<int32_t>((word >> (bits * (i % codes_per_word))) & code_mask);
  }
  for (int i = 0; i < kGroup; ++i) {
    out[i] = scale * static_cast<float>(codes[i]) + bias;
  }
}

}  // namespace

float dot(const float* a, const float* b, int n) {
  float sums[kLanes] = {};
  for (int i = 0; i < n; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      sums[lane] += a[i + lane] * b[i + lane];
    }
  }
  float total = 0.0f;
  for (const float sum : sums) {
    total += sum;
  }
  return total;
}

void rms_norm(float* out, const float* x, const float* weight, int n) {
  const float mean_square = dot(x, x, n) / static_cast<float>(n);
  const float scale = 1.0f / std::sqrt(mean_square + CommonShape::kNormEps);
  for (int i = 0; i < n; ++i) {
    out[i] = x[i] * scale * weight[i];
  }
}

std::vector<float> normed_rows(const float* x, const float* weight, int n_rows, int width) {
  std::vector<float> normed(static_cast<size_t>(n_rows) * static_cast<size_t>(width));
  for (int r = 0; r < n_rows; ++r) {
    rms_norm(normed.data() + r * width, x + r * width, weight, width);
  }
  return normed;
}

void dequantise_row(float* out, const Matrix& matrix, int which, int row) {
  const int64_t row_index = int64_t{which} * matrix.n_out + row;
  if (matrix.bits == 32) {
    std::copy_n(static_cast<const float*>(matrix.codes) + row_index * matrix.n_in, matrix.n_in, out);
    return;
  }
  if (matrix.bits == 16) {
    const bf16* values = static_cast<const bf16*>(matrix.codes) + row_index * matrix.n_in;
    std::transform(values, values + matrix.n_in, out, [](bf16 value) { return to_f32(value); });
    return;
  }
  const int n_groups = matrix.n_in / kGroup;
  const int words_per_group = kGroup * matrix.bits / 32;
  const bf16* scales = static_cast<const bf16*>(matrix.scales) + row_index * n_groups;
  const bf16* biases = static_cast<const bf16*>(matrix.biases) + row_index * n_groups;
  const uint32_t* words = static_cast<const uint32_t*>(matrix.codes) + row_index * n_groups * words_per_group;
  for (int g = 0; g < n_groups; ++g) {
    if (matrix.bits == 4) {  // a constant width lets the compiler unroll
      dequantise_group(out + g * kGroup, words + g * words_per_group, 4, to_f32(scales[g]),
                       to_f32(biases[g]));
    } else {
      dequantise_group(out + g * kGroup, words + g * words_per_group, 8, to_f32(scales[g]),
                       to_f32(biases[g]));
    }
  }
}

void linear(std::span<float* const> out, const Matrix& matrix, int which, std::span<const float* const> in) {
  if (in.empty()) {
    return;
  }
  std::vector<float> weights(static_cast<size_t>(matrix.n_in));
  for (int o = 0; o < matrix.n_out; ++o) {
    dequantise_row(weights.data(), matrix, which, o);
    for (size_t r = 0; r < in.size(); ++r) {
      out[r][o] = dot(weights.data(), in[r], matrix.n_in);
    }
  }
}

void linear(float* out, const Matrix& matrix, const float* in, int n_rows) {
  linear(rows_of(out, n_rows, matrix.n_out), matrix, 0, rows_of(in, n_rows, matrix.n_in));
}

void add_linear(float* residual, const Matrix& matrix, const float* in, int n_rows) {
  std::vector<float> product(static_cast<size_t>(n_rows) * static_cast<size_t>(matrix.n_out));
  linear(product.data(), matrix, in, n_rows);
  for (size_t i = 0; i < product.size(); ++i) {
    residual[i] += product[i];
  }
}

}  // namespace orfebre::reference
