// Elementwise functions and reductions in 16 lanes, and the kernels made of them alone.

// e^x = 2^n e^r, n = round(x / ln 2), |r| <= ln(2) / 2, e^r by its Taylor series to r^7 / 7! (remainder under
// 6e-9). Within 1.5 units in the last place over [-87.3, 88]; 0 below, e^88 above, NaN for NaN; 1 at 0.
inline F exponential(F x) {
  constexpr float kLog2e = 1.44269504f;
  constexpr float kLn2High = 0.693359375f;  // 9 bits: n * kLn2High is exact
  constexpr float kLn2Low = -2.12194440e-4f;
  const F lowest = splat(-87.3f);
  const F clamped = smaller(splat(88.0f), larger(lowest, x));
  const F n = round_nearest(clamped * splat(kLog2e));
  const F r = fma_neg(n, splat(kLn2Low), fma_neg(n, splat(kLn2High), clamped));
  F series = splat(1.0f / 5040.0f);
  series = fma(series, r, splat(1.0f / 720.0f));
  series = fma(series, r, splat(1.0f / 120.0f));
  series = fma(series, r, splat(1.0f / 24.0f));
  series = fma(series, r, splat(1.0f / 6.0f));
  series = fma(series, r, splat(0.5f));
  series = fma(series, r, splat(1.0f));
  series = fma(series, r, splat(1.0f));
  const F power = as_float(shift_left<23>(to_int(n) + splat_int(127)));
  return where_less(x, lowest, zero(), series * power);
}

inline F sigmoid(F x) {
  return splat(1.0f) / (splat(1.0f) + exponential(zero() - x));
}
inline F silu(F x) {
  return x / (splat(1.0f) + exponential(zero() - x));
}

// ln(1 + e^x) = max(x, 0) + ln(1 + t), t = e^-|x| in (0, 1]; ln(1 + t) = 2 atanh(s), s = t / (2 + t) <= 1/3,
// by its series to s^15 (remainder under 1e-9). Equal to x from 20 on, as the switch at 20 elsewhere gives.
inline F softplus(F x) {
  const F t = exponential(zero() - magnitude(x));
  const F s = t / (splat(2.0f) + t);
  const F s2 = s * s;
  F series = splat(1.0f / 15.0f);
  series = fma(series, s2, splat(1.0f / 13.0f));
  series = fma(series, s2, splat(1.0f / 11.0f));
  series = fma(series, s2, splat(1.0f / 9.0f));
  series = fma(series, s2, splat(1.0f / 7.0f));
  series = fma(series, s2, splat(1.0f / 5.0f));
  series = fma(series, s2, splat(1.0f / 3.0f));
  series = fma(series, s2, splat(1.0f));
  return fma(s + s, series, larger(zero(), x));
}

// Sum of squares of n values, a multiple of 64.
inline float sum_of_squares(const float* x, int n) {
  F sums[4] = {zero(), zero(), zero(), zero()};
  for (int i = 0; i < n; i += 64) {
    for (int j = 0; j < 4; ++j) {
      const F part = load(x + i + 16 * j);
      sums[j] = fma(part, part, sums[j]);
    }
  }
  return sum_lanes((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

inline float norm_factor(const float* x, int n) {
  const float mean = sum_of_squares(x, n) / static_cast<float>(n);
  return 1.0f / square_root(mean + CommonShape::kNormEps);
}

void rms_norm(float* out, const float* x, const float* weight, int n) {
  const F factor = splat(norm_factor(x, n));
  for (int i = 0; i < n; i += 16) {
    store(out + i, load(x + i) * factor * load(weight + i));
  }
}

// One group: step = max|x| / 16256, codes are the nearest multiples. NaN and infinity reach the result
// through the sum, which multiplies the weights' biases.
inline void quantize_group(int8_t* codes, float& step, float& sum, const float* x) {
  const F parts[4] = {load(x), load(x + 16), load(x + 32), load(x + 48)};
  const F peaks = larger(larger(magnitude(parts[0]), magnitude(parts[1])),
                         larger(magnitude(parts[2]), magnitude(parts[3])));
  const float peak = largest_lane(peaks);
  step = peak / 16256.0f;
  sum = sum_lanes((parts[0] + parts[1]) + (parts[2] + parts[3]));
  const F inverse = splat(peak > 0x1p-100f ? 16256.0f / peak : 0.0f);
  for (int i = 0; i < 4; ++i) {
    const I value = to_int(parts[i] * inverse);
    const I high = shift_right<7>(value + splat_int(64));
    store_bytes(codes + 16 * i, high);
    store_bytes(codes + 64 + 16 * i, value - shift_left<7>(high));
  }
}

void quantize(uint8_t* out, const float* x, int n) {
  int8_t* const codes = reinterpret_cast<int8_t*>(out);
  float* const steps = reinterpret_cast<float*>(out + quantized_codes_bytes(n));
  const int n_groups = n / kGroup;
  for (int g = 0; g < n_groups; ++g) {
    quantize_group(codes + 128 * g, steps[g], steps[n_groups + g], x + kGroup * g);
  }
}

// 16 codes of an embedding row as floats, from code `at` on.
inline F embedding_codes(const uint8_t* codes, int at, int bits) {
  alignas(64) float values[16];
  for (int i = 0; i < 16; ++i) {
    const int code = bits == 8 ? codes[at + i] : (codes[(at + i) / 2] >> (4 * (i & 1))) & 15;
    values[i] = static_cast<float>(code);
  }
  return load(values);
}

inline float bf16_at(const uint8_t* p, int index) {
  uint16_t bits;
  __builtin_memcpy(&bits, p + 2 * index, sizeof(bits));
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  __builtin_memcpy(&value, &wide, sizeof(value));
  return value;
}

void embed(float* out, const uint8_t* row, int n, int bits) {
  const uint8_t* const scales = row + n * bits / 8;
  const uint8_t* const biases = scales + n / kGroup * 2;
  for (int i = 0; i < n; i += 16) {
    const F scale = splat(bf16_at(scales, i / kGroup));
    store(out + i, fma(embedding_codes(row, i, bits), scale, splat(bf16_at(biases, i / kGroup))));
  }
}

void norm_rope(float* out, const float* x, const float* weight, const float* rope) {
  rms_norm(out, x, weight, kHeadDim);
  for (int i = 0; i < 32; i += 16) {
    const F first = load(out + i);
    const F second = load(out + i + 32);
    const F cosine = load(rope + i);
    const F sine = load(rope + 32 + i);
    store(out + i, fma_neg(second, sine, first * cosine));
    store(out + i + 32, fma(first, sine, second * cosine));
  }
}

void cache_token(uint8_t* head, int token, const float* k, const float* v) {
  const F limit = splat(65504.0f);
  const F negative_limit = splat(-65504.0f);
  uint16_t* const keys = reinterpret_cast<uint16_t*>(head) + token / 16 * 16 * kHeadDim + token % 16;
  uint16_t* const values = reinterpret_cast<uint16_t*>(head + kKvHeadBytes / 2) + token * kHeadDim;
  alignas(64) uint16_t halves[16];
  for (int i = 0; i < kHeadDim; i += 16) {
    store_f16(values + i, smaller(limit, larger(negative_limit, load(v + i))));
    store_f16(halves, smaller(limit, larger(negative_limit, load(k + i))));
    for (int j = 0; j < 16; ++j) {
      keys[(i + j) * 16] = halves[j];
    }
  }
}

void sigmoid_in_place(float* x, int n) {
  for (int i = 0; i < n; i += 16) {
    store(x + i, sigmoid(load(x + i)));
  }
}
