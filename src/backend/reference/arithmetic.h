// The arithmetic that several reference ops share: dot product, RMS norm, gates, products with a quantised
// matrix. All f32; sums run in 16 interleaved partial sums, which a compiler can keep in vector registers.
#pragma once

#include "backend/params.h"

#include <cmath>
#include <span>
#include <vector>

namespace orfebre::reference {

inline float sigmoid(float x) {
  return 1.0f / (1.0f + std::exp(-x));
}

inline float silu(float x) {
  return x * sigmoid(x);
}

// ln(1 + e^x); above 20 the two differ by less than f32 can tell (and e^x would overflow later).
inline float softplus(float x) {
  return x > 20.0f ? x : std::log1p(std::exp(x));
}

// Sum of a[i] * b[i]; n is a multiple of 16.
float dot(const float* a, const float* b, int n);

// out = x / sqrt(mean(x^2) + 1e-6) * weight; `out` may be `x`. Zero-centred norms come with 1 + w as weight.
void rms_norm(float* out, const float* x, const float* weight, int n);

// rms_norm of every row: [n_rows, width].
std::vector<float> normed_rows(const float* x, const float* weight, int n_rows, int width);

// One row of a matrix as f32: out [n_in] = scale * code + bias, or the dense values.
void dequantise_row(float* out, const Matrix& matrix, int which, int row);

// Pointers to rows of a [n_rows, width] buffer.
template <class Float>
std::vector<Float*> rows_of(Float* base, int n_rows, int width) {
  std::vector<Float*> rows(static_cast<size_t>(n_rows));
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i] = base + i * static_cast<size_t>(width);
  }
  return rows;
}

// out[r] [n_out] = W in[r], W the `which`-th matrix of `matrix`, for any rows in any places.
void linear(std::span<float* const> out, const Matrix& matrix, int which, std::span<const float* const> in);

// out [n_rows, n_out] = W in [n_rows, n_in], with one matrix.
void linear(float* out, const Matrix& matrix, const float* in, int n_rows);

// residual [n_rows, n_out] += W in [n_rows, n_in].
void add_linear(float* residual, const Matrix& matrix, const float* in, int n_rows);

}  // namespace orfebre::reference
