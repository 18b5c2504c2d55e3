#include "checkpoint/affine.h"

#include "base/error.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace orfebre {
namespace {

struct GroupScale {
  float scale;
  float bias;
};

GroupScale choose_scale(const float* values, float max_code) {  // values [64]
  float lowest = values[0];
  float highest = values[0];
  for (int element = 1; element < kAffineGroupSize; ++element) {
    lowest = values[element] < lowest ? values[element] : lowest;
    highest = values[element] > highest ? values[element] : highest;
  }
  const bool edge_is_lowest = std::fabs(lowest) > std::fabs(highest);
  const float edge = edge_is_lowest ? lowest : highest;
  const float step = std::max((highest - lowest) / max_code, 1e-7f);
  const float scale = edge_is_lowest ? step : -step;
  const float steps_to_zero = std::rint(edge / scale);
  if (steps_to_zero == 0.0f) {
    return {scale, 0.0f};
  }
  return {edge / steps_to_zero, edge};
}

// Rounds |value| < 2^22 to nearest even: the addition drops the fraction. Unlike std::rint this vectorises on
// every target.
float round_small(float value) {
  constexpr float kShift = 12582912.0f;  // 1.5 * 2^23
  return (value + kShift) - kShift;
}

void quantize_group(uint32_t* codes, bf16* scale, bf16* bias, const bf16* source, int bits) {
  const float max_code = static_cast<float>((1 << bits) - 1);
  float values[kAffineGroupSize];
  for (int element = 0; element < kAffineGroupSize; ++element) {
    values[element] = to_f32(source[element]);
  }
  const GroupScale group = choose_scale(values, max_code);
  uint32_t rounded[kAffineGroupSize];
  for (int element = 0; element < kAffineGroupSize; ++element) {
    const float steps = (values[element] - group.bias) / group.scale;
    // Clamped before rounding: the same result, since 0 and max_code are integers. NaN becomes 0.
    const float at_least_zero = steps > 0.0f ? steps : 0.0f;
    const float clamped = at_least_zero < max_code ? at_least_zero : max_code;
    rounded[element] = static_cast<uint32_t>(static_cast<int32_t>(round_small(clamped)));
  }
  const int per_word = 32 / bits;
  for (int word = 0; word < affine_group_words(bits); ++word) {
    uint32_t packed = 0;
    for (int element = 0; element < per_word; ++element) {
      packed |= rounded[word * per_word + element] << (bits * element);
    }
    codes[word] = packed;
  }
  *scale = to_bf16(group.scale);
  *bias = to_bf16(group.bias);
}

}  // namespace

void quantize_affine(uint32_t* codes, bf16* scales, bf16* biases, const bf16* values, size_t n_groups,
                     int bits) {
  ORFEBRE_CHECK(bits == 4 || bits == 8);
  const size_t group_words = static_cast<size_t>(affine_group_words(bits));
  for (size_t group = 0; group < n_groups; ++group) {
    quantize_group(codes + group * group_words, scales + group, biases + group,
                   values + group * kAffineGroupSize, bits);
  }
}

void dequantize_affine(float* values, const uint32_t* codes, const bf16* scales, const bf16* biases,
                       size_t n_groups, int bits) {
  ORFEBRE_CHECK(bits == 4 || bits == 8);
  const int per_word = 32 / bits;
  const uint32_t mask = (1u << bits) - 1u;
  const size_t group_words = static_cast<size_t>(affine_group_words(bits));
  for (size_t group = 0; group < n_groups; ++group) {
    const float scale = to_f32(scales[group]);
    const float bias = to_f32(biases[group]);
    float* to = values + group * kAffineGroupSize;
    const uint32_t* words = codes + group * group_words;
    for (int element = 0; element < kAffineGroupSize; ++element) {
      const uint32_t code = (words[element / per_word] >> (bits * (element % per_word))) & mask;
      to[element] = scale * static_cast<float>(code) + bias;
    }
  }
}

bool all_finite(const bf16* values, size_t count) {
  // Or-reduced rather than returning early, so that the loop vectorises: nearly always everything is finite.
  uint32_t any_bad = 0;
  for (size_t index = 0; index < count; ++index) {
    any_bad |= (values[index].bits & 0x7f80u) == 0x7f80u ? 1u : 0u;
  }
  return any_bad == 0;
}

bool all_finite(const float* values, size_t count) {
  uint32_t any_bad = 0;
  for (size_t index = 0; index < count; ++index) {
    any_bad |= (std::bit_cast<uint32_t>(values[index]) & 0x7f800000u) == 0x7f800000u ? 1u : 0u;
  }
  return any_bad == 0;
}

}  // namespace orfebre
