// The 16-lane vocabulary of the kernels in AVX-512 (f, bw, vl, dq, vnni): one register each. Included inside
// an unnamed namespace by isa_avx512.cpp only. lanes_avx2.inl has the same words with the same results.

struct F {  // 16 floats
  __m512 v;
};
struct I {  // 16 32-bit integers
  __m512i v;
};

// How many accumulators of 16 floats fit the registers beside operands.
constexpr int kAccumulators = 16;

inline F zero() {
  return {_mm512_setzero_ps()};
}
inline F splat(float x) {
  return {_mm512_set1_ps(x)};
}
inline F load(const float* p) {
  return {_mm512_loadu_ps(p)};
}
inline void store(float* p, F x) {
  _mm512_storeu_ps(p, x.v);
}
// To memory past the caches; p is aligned to 64 bytes. finish_stores orders such stores before what follows.
inline void store_past_cache(float* p, F x) {
  _mm512_stream_ps(p, x.v);
}
inline F operator+(F a, F b) {
  return {_mm512_add_ps(a.v, b.v)};
}
inline F operator-(F a, F b) {
  return {_mm512_sub_ps(a.v, b.v)};
}
inline F operator*(F a, F b) {
  return {_mm512_mul_ps(a.v, b.v)};
}
inline F operator/(F a, F b) {
  return {_mm512_div_ps(a.v, b.v)};
}
inline F fma(F a, F b, F c) {
  return {_mm512_fmadd_ps(a.v, b.v, c.v)};
}  // a b + c
inline F fma_neg(F a, F b, F c) {
  return {_mm512_fnmadd_ps(a.v, b.v, c.v)};
}  // c - a b
// The larger or smaller of two; `b` when either is NaN.
inline F larger(F a, F b) {
  return {_mm512_max_ps(a.v, b.v)};
}
inline F smaller(F a, F b) {
  return {_mm512_min_ps(a.v, b.v)};
}
inline F magnitude(F a) {
  return {_mm512_abs_ps(a.v)};
}
// a < b ? x : y, lane by lane; y when either is NaN.
inline F where_less(F a, F b, F x, F y) {
  return {_mm512_mask_blend_ps(_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ), y.v, x.v)};
}
// Bit l is set when lane l of a equals that of b.
inline uint32_t equal_lanes(F a, F b) {
  return _mm512_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ);
}
// Bit l is set when lane l of a is at least that of b; never for NaN.
inline uint32_t at_least_lanes(F a, F b) {
  return _mm512_cmp_ps_mask(a.v, b.v, _CMP_GE_OQ);
}

inline I to_int(F a) {
  return {_mm512_cvtps_epi32(a.v)};
}  // nearest, ties to even
inline F to_float(I a) {
  return {_mm512_cvtepi32_ps(a.v)};
}
inline F round_nearest(F a) {
  return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
inline I operator+(I a, I b) {
  return {_mm512_add_epi32(a.v, b.v)};
}
inline I operator-(I a, I b) {
  return {_mm512_sub_epi32(a.v, b.v)};
}
inline I splat_int(int x) {
  return {_mm512_set1_epi32(x)};
}
template <int n>
inline I shift_left(I a) {
  return {_mm512_slli_epi32(a.v, n)};
}
template <int n>
inline I shift_right(I a) {
  return {_mm512_srai_epi32(a.v, n)};
}
inline F as_float(I a) {
  return {_mm512_castsi512_ps(a.v)};
}
inline void store_bytes(int8_t* p, I a) {  // the low byte of each lane
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(a.v));
}

inline F load_bf16(const void* p) {
  const __m256i bits = _mm256_loadu_si256(static_cast<const __m256i*>(p));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16))};
}
inline F load_f16(const uint16_t* p) {
  return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
}
inline void store_f16(uint16_t* p, F a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                      _mm512_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
inline F lane_numbers() {
  return {_mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)};
}

inline __m256 low_half(F a) {
  return _mm512_castps512_ps256(a.v);
}
inline __m256 high_half(F a) {
  return _mm512_extractf32x8_ps(a.v, 1);
}

// 16 unsigned codes of 8 k-neighbours (low nibbles: the first four of each row), or of 4 in bytes.
struct Codes {
  __m512i v;
};
inline Codes load_codes(const uint8_t* p) {
  return {_mm512_loadu_si512(p)};
}
inline Codes low_nibbles(Codes c) {
  return {_mm512_and_si512(c.v, _mm512_set1_epi8(15))};
}
inline Codes high_nibbles(Codes c) {
  return {_mm512_and_si512(_mm512_srli_epi16(c.v, 4), _mm512_set1_epi8(15))};
}
inline __m512i splat_quad(const int8_t* x) {
  int quad;
  __builtin_memcpy(&quad, x, sizeof(quad));
  return _mm512_set1_epi32(quad);
}

// The integer dots of 16 rows' groups with kCols columns: dot[c] = 128 * sum(code * high) + sum(code * low).
// `x` points at the column's group: 64 high bytes, then 64 low bytes.
template <int kCols>
inline void dot_group4(I (&dot)[kCols], const uint8_t* codes, const int8_t* const (&x)[kCols]) {
  constexpr int kChains = kCols <= 2 ? 2 : 1;  // with few columns more chains hide vpdpbusd's latency
  __m512i high[kCols][kChains];
  __m512i low[kCols][kChains];
#pragma GCC unroll 8
  for (int c = 0; c < kCols; ++c) {
#pragma GCC unroll 2
    for (int chain = 0; chain < kChains; ++chain) {
      high[c][chain] = low[c][chain] = _mm512_setzero_si512();
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    const Codes both = load_codes(codes + 64 * i);
    const __m512i first = low_nibbles(both).v;
    const __m512i second = high_nibbles(both).v;
#pragma GCC unroll 8
    for (int c = 0; c < kCols; ++c) {
      const int8_t* const q = x[c] + 8 * i;
      high[c][0] = _mm512_dpbusd_epi32(high[c][0], first, splat_quad(q));
      low[c][0] = _mm512_dpbusd_epi32(low[c][0], first, splat_quad(q + 64));
      high[c][kChains - 1] = _mm512_dpbusd_epi32(high[c][kChains - 1], second, splat_quad(q + 4));
      low[c][kChains - 1] = _mm512_dpbusd_epi32(low[c][kChains - 1], second, splat_quad(q + 68));
    }
  }
#pragma GCC unroll 8
  for (int c = 0; c < kCols; ++c) {
    if (kChains == 2) {
      high[c][0] = _mm512_add_epi32(high[c][0], high[c][kChains - 1]);
      low[c][0] = _mm512_add_epi32(low[c][0], low[c][kChains - 1]);
    }
    dot[c].v = _mm512_add_epi32(_mm512_slli_epi32(high[c][0], 7), low[c][0]);
  }
}

template <int kCols>
inline void dot_group8(I (&dot)[kCols], const uint8_t* codes, const int8_t* const (&x)[kCols]) {
  __m512i high[kCols];
  __m512i low[kCols];
#pragma GCC unroll 8
  for (int c = 0; c < kCols; ++c) {
    high[c] = low[c] = _mm512_setzero_si512();
  }
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    const __m512i w = load_codes(codes + 64 * i).v;
#pragma GCC unroll 8
    for (int c = 0; c < kCols; ++c) {
      high[c] = _mm512_dpbusd_epi32(high[c], w, splat_quad(x[c] + 4 * i));
      low[c] = _mm512_dpbusd_epi32(low[c], w, splat_quad(x[c] + 64 + 4 * i));
    }
  }
#pragma GCC unroll 8
  for (int c = 0; c < kCols; ++c) {
    dot[c].v = _mm512_add_epi32(_mm512_slli_epi32(high[c], 7), low[c]);
  }
}
