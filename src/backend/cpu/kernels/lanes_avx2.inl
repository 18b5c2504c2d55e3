// The 16-lane vocabulary of the kernels in AVX2, FMA and F16C: two registers each. Included inside an unnamed
// namespace by isa_avx2.cpp only. lanes_avx512.inl has the same words with the same results, bit for bit.

struct F {  // 16 floats
  __m256 a, b;
};
struct I {  // 16 32-bit integers
  __m256i a, b;
};

constexpr int kAccumulators = 4;

inline F zero() {
  return {_mm256_setzero_ps(), _mm256_setzero_ps()};
}
inline F splat(float x) {
  return {_mm256_set1_ps(x), _mm256_set1_ps(x)};
}
inline F load(const float* p) {
  return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}
inline void store(float* p, F x) {
  _mm256_storeu_ps(p, x.a);
  _mm256_storeu_ps(p + 8, x.b);
}
inline void store_past_cache(float* p, F x) {
  _mm256_stream_ps(p, x.a);
  _mm256_stream_ps(p + 8, x.b);
}
inline F operator+(F a, F b) {
  return {_mm256_add_ps(a.a, b.a), _mm256_add_ps(a.b, b.b)};
}
inline F operator-(F a, F b) {
  return {_mm256_sub_ps(a.a, b.a), _mm256_sub_ps(a.b, b.b)};
}
inline F operator*(F a, F b) {
  return {_mm256_mul_ps(a.a, b.a), _mm256_mul_ps(a.b, b.b)};
}
inline F operator/(F a, F b) {
  return {_mm256_div_ps(a.a, b.a), _mm256_div_ps(a.b, b.b)};
}
inline F fma(F a, F b, F c) {
  return {_mm256_fmadd_ps(a.a, b.a, c.a), _mm256_fmadd_ps(a.b, b.b, c.b)};
}
inline F fma_neg(F a, F b, F c) {
  return {_mm256_fnmadd_ps(a.a, b.a, c.a), _mm256_fnmadd_ps(a.b, b.b, c.b)};
}
inline F larger(F a, F b) {
  return {_mm256_max_ps(a.a, b.a), _mm256_max_ps(a.b, b.b)};
}
inline F smaller(F a, F b) {
  return {_mm256_min_ps(a.a, b.a), _mm256_min_ps(a.b, b.b)};
}
inline F magnitude(F a) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  return {_mm256_andnot_ps(sign, a.a), _mm256_andnot_ps(sign, a.b)};
}
inline F where_less(F a, F b, F x, F y) {
  return {_mm256_blendv_ps(y.a, x.a, _mm256_cmp_ps(a.a, b.a, _CMP_LT_OQ)),
          _mm256_blendv_ps(y.b, x.b, _mm256_cmp_ps(a.b, b.b, _CMP_LT_OQ))};
}
inline uint32_t lanes_of(__m256 a, __m256 b) {
  return static_cast<uint32_t>(_mm256_movemask_ps(a)) | static_cast<uint32_t>(_mm256_movemask_ps(b)) << 8;
}
inline uint32_t equal_lanes(F a, F b) {
  return lanes_of(_mm256_cmp_ps(a.a, b.a, _CMP_EQ_OQ), _mm256_cmp_ps(a.b, b.b, _CMP_EQ_OQ));
}
inline uint32_t at_least_lanes(F a, F b) {
  return lanes_of(_mm256_cmp_ps(a.a, b.a, _CMP_GE_OQ), _mm256_cmp_ps(a.b, b.b, _CMP_GE_OQ));
}

inline I to_int(F a) {
  return {_mm256_cvtps_epi32(a.a), _mm256_cvtps_epi32(a.b)};
}
inline F to_float(I a) {
  return {_mm256_cvtepi32_ps(a.a), _mm256_cvtepi32_ps(a.b)};
}
inline F round_nearest(F a) {
  return {_mm256_round_ps(a.a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
          _mm256_round_ps(a.b, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
inline I operator+(I a, I b) {
  return {_mm256_add_epi32(a.a, b.a), _mm256_add_epi32(a.b, b.b)};
}
inline I operator-(I a, I b) {
  return {_mm256_sub_epi32(a.a, b.a), _mm256_sub_epi32(a.b, b.b)};
}
inline I splat_int(int x) {
  return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)};
}
template <int n>
inline I shift_left(I a) {
  return {_mm256_slli_epi32(a.a, n), _mm256_slli_epi32(a.b, n)};
}
template <int n>
inline I shift_right(I a) {
  return {_mm256_srai_epi32(a.a, n), _mm256_srai_epi32(a.b, n)};
}
inline F as_float(I a) {
  return {_mm256_castsi256_ps(a.a), _mm256_castsi256_ps(a.b)};
}
inline void store_bytes(int8_t* p, I a) {
  // Keep the low bytes only, so that the saturating packs change nothing.
  const __m256i byte = _mm256_set1_epi32(255);
  const __m256i words = _mm256_packus_epi32(_mm256_and_si256(a.a, byte), _mm256_and_si256(a.b, byte));
  const __m256i ordered = _mm256_permute4x64_epi64(words, 0xd8);
  const __m128i bytes =
      _mm_packus_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), bytes);
}

inline __m256 bf16_half(const __m128i* p) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(p)), 16));
}
inline F load_bf16(const void* p) {
  const __m128i* const bits = static_cast<const __m128i*>(p);
  return {bf16_half(bits), bf16_half(bits + 1)};
}
inline F load_f16(const uint16_t* p) {
  const __m128i* const bits = reinterpret_cast<const __m128i*>(p);
  return {_mm256_cvtph_ps(_mm_loadu_si128(bits)), _mm256_cvtph_ps(_mm_loadu_si128(bits + 1))};
}
inline void store_f16(uint16_t* p, F a) {
  __m128i* const bits = reinterpret_cast<__m128i*>(p);
  _mm_storeu_si128(bits, _mm256_cvtps_ph(a.a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  _mm_storeu_si128(bits + 1, _mm256_cvtps_ph(a.b, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
inline F lane_numbers() {
  return {_mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7), _mm256_setr_ps(8, 9, 10, 11, 12, 13, 14, 15)};
}

inline __m256 low_half(F a) {
  return a.a;
}
inline __m256 high_half(F a) {
  return a.b;
}

inline __m256i splat_quad(const int8_t* x) {
  int quad;
  __builtin_memcpy(&quad, x, sizeof(quad));
  return _mm256_set1_epi32(quad);
}

// Sums of products of 8 rows (half a panel) with one column, in 16-bit lanes. vpmaddubsw adds two products;
// codes are at most 15 here, so 8 such sums of the high plane (8 * 2 * 15 * 127 = 30,480) and 16 of the low
// plane (16 * 2 * 15 * 64 = 30,720) stay inside 16 bits: a whole group needs three accumulators a column.
struct HalfSums {
  __m256i high_first, high_second, low;
};

inline void clear(HalfSums& s) {
  s.high_first = s.high_second = s.low = _mm256_setzero_si256();
}

inline void add_quads(HalfSums& s, __m256i first, __m256i second, const int8_t* x, int first_at,
                      int second_at) {
  s.high_first = _mm256_add_epi16(s.high_first, _mm256_maddubs_epi16(first, splat_quad(x + first_at)));
  s.high_second = _mm256_add_epi16(s.high_second, _mm256_maddubs_epi16(second, splat_quad(x + second_at)));
  s.low = _mm256_add_epi16(s.low, _mm256_maddubs_epi16(first, splat_quad(x + 64 + first_at)));
  s.low = _mm256_add_epi16(s.low, _mm256_maddubs_epi16(second, splat_quad(x + 64 + second_at)));
}

// 128 * high + low in 32 bits.
inline __m256i total(const HalfSums& s) {
  const __m256i ones = _mm256_set1_epi16(1);
  const __m256i high =
      _mm256_add_epi32(_mm256_madd_epi16(s.high_first, ones), _mm256_madd_epi16(s.high_second, ones));
  return _mm256_add_epi32(_mm256_slli_epi32(high, 7), _mm256_madd_epi16(s.low, ones));
}

// Half a panel's group times kCols columns; 4 at a time fill the 16 registers.
template <int kCols>
inline void dot_half4(__m256i* dot, const uint8_t* codes, const int8_t* const* x) {
  const __m256i nibble = _mm256_set1_epi8(15);
  HalfSums sums[kCols];
#pragma GCC unroll 4
  for (int c = 0; c < kCols; ++c) {
    clear(sums[c]);
  }
  // Not unrolled: gcc would regroup the sums of all rounds and spill them.
#pragma GCC unroll 1
  for (int i = 0; i < 8; ++i) {
    const __m256i both = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + 64 * i));
    const __m256i first = _mm256_and_si256(both, nibble);
    const __m256i second = _mm256_and_si256(_mm256_srli_epi16(both, 4), nibble);
#pragma GCC unroll 4
    for (int c = 0; c < kCols; ++c) {
      add_quads(sums[c], first, second, x[c], 8 * i, 8 * i + 4);
    }
  }
#pragma GCC unroll 4
  for (int c = 0; c < kCols; ++c) {
    dot[c] = total(sums[c]);
  }
}

// A byte code is 16 * its high nibble + its low nibble: two passes of the four-bit kind, so that 16-bit lanes
// never saturate.
inline __m256i dot_half8(const uint8_t* codes, const int8_t* x) {
  const __m256i nibble = _mm256_set1_epi8(15);
  HalfSums of_low;
  HalfSums of_high;
  clear(of_low);
  clear(of_high);
#pragma GCC unroll 1
  for (int i = 0; i < 16; i += 2) {
    const __m256i one = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + 64 * i));
    const __m256i two = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + 64 * i + 64));
    add_quads(of_low, _mm256_and_si256(one, nibble), _mm256_and_si256(two, nibble), x, 4 * i, 4 * i + 4);
    add_quads(of_high, _mm256_and_si256(_mm256_srli_epi16(one, 4), nibble),
              _mm256_and_si256(_mm256_srli_epi16(two, 4), nibble), x, 4 * i, 4 * i + 4);
  }
  return _mm256_add_epi32(_mm256_slli_epi32(total(of_high), 4), total(of_low));
}

// The integer dots of 16 rows' groups with kCols columns, as in lanes_avx512.inl.
template <int kCols>
inline void dot_group4(I (&dot)[kCols], const uint8_t* codes, const int8_t* const (&x)[kCols]) {
  constexpr int kFirst = kCols < 4 ? kCols : 4;
  constexpr int kRest = kCols - kFirst;
  __m256i upper[kCols];
  __m256i lower[kCols];
  dot_half4<kFirst>(upper, codes, x);
  dot_half4<kFirst>(lower, codes + 32, x);
  if constexpr (kRest > 0) {
    dot_half4<kRest>(upper + kFirst, codes, x + kFirst);
    dot_half4<kRest>(lower + kFirst, codes + 32, x + kFirst);
  }
  for (int c = 0; c < kCols; ++c) {
    dot[c] = {upper[c], lower[c]};
  }
}

template <int kCols>
inline void dot_group8(I (&dot)[kCols], const uint8_t* codes, const int8_t* const (&x)[kCols]) {
  for (int c = 0; c < kCols; ++c) {
    dot[c] = {dot_half8(codes, x[c]), dot_half8(codes + 32, x[c])};
  }
}
