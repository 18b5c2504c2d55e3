// MLX's affine 4- and 8-bit format with groups of 64: our own quantiser and dequantiser.
//
// A group is 64 consecutive values of one row. It has one scale and one bias; value = scale * code + bias
// with unsigned codes. Codes are packed little end first into u32 words: element e of a row sits in word e /
// (32 / bits) at bit bits * (e % (32 / bits)). Rows are multiples of 64 long, so groups never straddle rows
// and a matrix is simply a run of groups.
//
// The quantiser gives the same bits as mlx.core.quantize(w, group_size=64, bits) for bf16 input (CPU build).
// Rule, all in f32, with n = 2^bits - 1 and lo, hi the least and greatest value of the group:
//   edge  = lo if |lo| > |hi| else hi          the value that must come out exactly
//   scale = max((hi - lo) / n, 1e-7), made negative when the edge is hi
//   code0 = round(edge / scale)                how many steps zero is away from the edge
//   if code0 == 0: bias = 0; otherwise bias = edge and scale = edge / code0, so that zero is hit exactly
//   code  = round((value - bias) / scale), at most n
// Rounding is to nearest, ties to even. Codes use the f32 scale and bias; only then are both rounded to bf16.
#pragma once

#include "base/dtype.h"

#include <cstddef>
#include <cstdint>

namespace orfebre {

inline constexpr int kAffineGroupSize = 64;

// u32 words that the codes of one group take: 8 at 4 bits, 16 at 8 bits.
constexpr int affine_group_words(int bits) {
  return kAffineGroupSize * bits / 32;
}

// codes [n_groups, affine_group_words(bits)] u32, scales and biases [n_groups] <- values [n_groups, 64].
// bits is 4 or 8. Groups with NaN or infinity, or a range beyond f32, give a scale or bias that is not finite
// or meaningless codes, never undefined behaviour; see all_finite().
void quantize_affine(uint32_t* codes, bf16* scales, bf16* biases, const bf16* values, size_t n_groups,
                     int bits);

// values [n_groups, 64] f32 <- codes, scales, biases as above. scale * code is exact in f32, so each value is
// rounded once, and a fused multiply-add gives the same bits.
void dequantize_affine(float* values, const uint32_t* codes, const bf16* scales, const bf16* biases,
                       size_t n_groups, int bits);

// Whether no element is NaN or infinite.
bool all_finite(const bf16* values, size_t count);
bool all_finite(const float* values, size_t count);

}  // namespace orfebre
