// The 16-lane vocabulary of the kernels in NEON, which every 64-bit Arm has: four registers each. Included
// inside an unnamed namespace by isa_neon.cpp, isa_dotprod.cpp and isa_i8mm.cpp only; the integer dots, in
// which these three differ, are in dots_*.inl. lanes_avx512.inl has the same words with the same results, bit
// for bit, save the sign and payload of a NaN.

struct F {  // 16 floats
  float32x4_t a, b, c, d;
};
struct I {  // 16 32-bit integers
  int32x4_t a, b, c, d;
};

constexpr int kAccumulators = 4;

inline F zero() {
  const float32x4_t x = vdupq_n_f32(0.0f);
  return {x, x, x, x};
}
inline F splat(float value) {
  const float32x4_t x = vdupq_n_f32(value);
  return {x, x, x, x};
}
inline F load(const float* p) {
  return {vld1q_f32(p), vld1q_f32(p + 4), vld1q_f32(p + 8), vld1q_f32(p + 12)};
}
inline void store(float* p, F x) {
  vst1q_f32(p, x.a);
  vst1q_f32(p + 4, x.b);
  vst1q_f32(p + 8, x.c);
  vst1q_f32(p + 12, x.d);
}
inline void store_past_cache(float* p, F x) {  // Arm has no such store, only a hint with a pair of registers
  store(p, x);
}
inline void finish_stores() {}

inline F operator+(F x, F y) {
  return {vaddq_f32(x.a, y.a), vaddq_f32(x.b, y.b), vaddq_f32(x.c, y.c), vaddq_f32(x.d, y.d)};
}
inline F operator-(F x, F y) {
  return {vsubq_f32(x.a, y.a), vsubq_f32(x.b, y.b), vsubq_f32(x.c, y.c), vsubq_f32(x.d, y.d)};
}
inline F operator*(F x, F y) {
  return {vmulq_f32(x.a, y.a), vmulq_f32(x.b, y.b), vmulq_f32(x.c, y.c), vmulq_f32(x.d, y.d)};
}
inline F operator/(F x, F y) {
  return {vdivq_f32(x.a, y.a), vdivq_f32(x.b, y.b), vdivq_f32(x.c, y.c), vdivq_f32(x.d, y.d)};
}
inline F fma(F x, F y, F z) {
  return {vfmaq_f32(z.a, x.a, y.a), vfmaq_f32(z.b, x.b, y.b), vfmaq_f32(z.c, x.c, y.c),
          vfmaq_f32(z.d, x.d, y.d)};
}
inline F fma_neg(F x, F y, F z) {
  return {vfmsq_f32(z.a, x.a, y.a), vfmsq_f32(z.b, x.b, y.b), vfmsq_f32(z.c, x.c, y.c),
          vfmsq_f32(z.d, x.d, y.d)};
}

// vmaxq and vminq answer NaN when either side is one; the words give the second side, as x86 does.
inline float32x4_t larger_of(float32x4_t x, float32x4_t y) {
  return vbslq_f32(vcgtq_f32(x, y), x, y);
}
inline float32x4_t smaller_of(float32x4_t x, float32x4_t y) {
  return vbslq_f32(vcltq_f32(x, y), x, y);
}
inline F larger(F x, F y) {
  return {larger_of(x.a, y.a), larger_of(x.b, y.b), larger_of(x.c, y.c), larger_of(x.d, y.d)};
}
inline F smaller(F x, F y) {
  return {smaller_of(x.a, y.a), smaller_of(x.b, y.b), smaller_of(x.c, y.c), smaller_of(x.d, y.d)};
}
inline F magnitude(F x) {
  return {vabsq_f32(x.a), vabsq_f32(x.b), vabsq_f32(x.c), vabsq_f32(x.d)};
}
inline F where_less(F x, F y, F yes, F no) {
  return {vbslq_f32(vcltq_f32(x.a, y.a), yes.a, no.a), vbslq_f32(vcltq_f32(x.b, y.b), yes.b, no.b),
          vbslq_f32(vcltq_f32(x.c, y.c), yes.c, no.c), vbslq_f32(vcltq_f32(x.d, y.d), yes.d, no.d)};
}

// Bit l from lane l of four comparisons.
inline uint32_t lanes_of(uint32x4_t a, uint32x4_t b, uint32x4_t c, uint32x4_t d) {
  static constexpr uint8_t kBits[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const uint16x8_t low = vcombine_u16(vmovn_u32(a), vmovn_u32(b));
  const uint16x8_t high = vcombine_u16(vmovn_u32(c), vmovn_u32(d));
  const uint8x16_t bits = vandq_u8(vcombine_u8(vmovn_u16(low), vmovn_u16(high)), vld1q_u8(kBits));
  return vaddv_u8(vget_low_u8(bits)) | static_cast<uint32_t>(vaddv_u8(vget_high_u8(bits))) << 8;
}
inline uint32_t equal_lanes(F x, F y) {
  return lanes_of(vceqq_f32(x.a, y.a), vceqq_f32(x.b, y.b), vceqq_f32(x.c, y.c), vceqq_f32(x.d, y.d));
}
inline uint32_t at_least_lanes(F x, F y) {
  return lanes_of(vcgeq_f32(x.a, y.a), vcgeq_f32(x.b, y.b), vcgeq_f32(x.c, y.c), vcgeq_f32(x.d, y.d));
}

// Nearest, ties to even. Past the range of an integer the answer is not x86's; the kernels only meet that
// with a NaN beside it that decides the result.
inline I to_int(F x) {
  return {vcvtnq_s32_f32(x.a), vcvtnq_s32_f32(x.b), vcvtnq_s32_f32(x.c), vcvtnq_s32_f32(x.d)};
}
inline F to_float(I x) {
  return {vcvtq_f32_s32(x.a), vcvtq_f32_s32(x.b), vcvtq_f32_s32(x.c), vcvtq_f32_s32(x.d)};
}
inline F round_nearest(F x) {
  return {vrndnq_f32(x.a), vrndnq_f32(x.b), vrndnq_f32(x.c), vrndnq_f32(x.d)};
}
inline I operator+(I x, I y) {
  return {vaddq_s32(x.a, y.a), vaddq_s32(x.b, y.b), vaddq_s32(x.c, y.c), vaddq_s32(x.d, y.d)};
}
inline I operator-(I x, I y) {
  return {vsubq_s32(x.a, y.a), vsubq_s32(x.b, y.b), vsubq_s32(x.c, y.c), vsubq_s32(x.d, y.d)};
}
inline I splat_int(int value) {
  const int32x4_t x = vdupq_n_s32(value);
  return {x, x, x, x};
}
template <int n>
inline I shift_left(I x) {
  return {vshlq_n_s32(x.a, n), vshlq_n_s32(x.b, n), vshlq_n_s32(x.c, n), vshlq_n_s32(x.d, n)};
}
template <int n>
inline I shift_right(I x) {
  return {vshrq_n_s32(x.a, n), vshrq_n_s32(x.b, n), vshrq_n_s32(x.c, n), vshrq_n_s32(x.d, n)};
}
inline F as_float(I x) {
  return {vreinterpretq_f32_s32(x.a), vreinterpretq_f32_s32(x.b), vreinterpretq_f32_s32(x.c),
          vreinterpretq_f32_s32(x.d)};
}
inline void store_bytes(int8_t* p, I x) {
  const int16x8_t low = vcombine_s16(vmovn_s32(x.a), vmovn_s32(x.b));
  const int16x8_t high = vcombine_s16(vmovn_s32(x.c), vmovn_s32(x.d));
  vst1q_s8(p, vcombine_s8(vmovn_s16(low), vmovn_s16(high)));
}

inline F load_bf16(const void* p) {
  const uint16_t* const bits = static_cast<const uint16_t*>(p);
  const uint16x8_t low = vld1q_u16(bits);
  const uint16x8_t high = vld1q_u16(bits + 8);
  return {vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(low), 16)),
          vreinterpretq_f32_u32(vshll_n_u16(vget_high_u16(low), 16)),
          vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(high), 16)),
          vreinterpretq_f32_u32(vshll_n_u16(vget_high_u16(high), 16))};
}
inline float32x4_t widen_f16(uint16x4_t bits) {
  return vcvt_f32_f16(vreinterpret_f16_u16(bits));
}
inline F load_f16(const uint16_t* p) {
  const uint16x8_t low = vld1q_u16(p);
  const uint16x8_t high = vld1q_u16(p + 8);
  return {widen_f16(vget_low_u16(low)), widen_f16(vget_high_u16(low)), widen_f16(vget_low_u16(high)),
          widen_f16(vget_high_u16(high))};
}
inline uint16x4_t narrow_f16(float32x4_t x) {
  return vreinterpret_u16_f16(vcvt_f16_f32(x));
}
inline void store_f16(uint16_t* p, F x) {
  vst1q_u16(p, vcombine_u16(narrow_f16(x.a), narrow_f16(x.b)));
  vst1q_u16(p + 8, vcombine_u16(narrow_f16(x.c), narrow_f16(x.d)));
}
inline F lane_numbers() {
  static constexpr float kNumbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return load(kNumbers);
}

// The order of lanes_x86.inl: halves, quarters, eighths.
inline float sum_lanes(F x) {
  const float32x4_t four = vaddq_f32(vaddq_f32(x.a, x.c), vaddq_f32(x.b, x.d));
  const float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
  return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
}
inline float largest_lane(F x) {
  const float32x4_t four = larger_of(larger_of(x.a, x.c), larger_of(x.b, x.d));
  const float32x4_t two = larger_of(four, vextq_f32(four, four, 2));
  const float even = vgetq_lane_f32(two, 0);
  const float odd = vgetq_lane_f32(two, 1);
  return even > odd ? even : odd;
}

inline float square_root(float x) {
  return __builtin_sqrtf(x);  // one instruction: the build has -fno-math-errno
}

inline void prefetch(const void* p) {
  __builtin_prefetch(p, 0, 3);
}
inline void prefetch_second_level(const void* p) {
  __builtin_prefetch(p, 0, 2);
}

// 16 columns of 4 rows as unsigned codes: vector j holds, for row r in bytes 4r..4r+3, columns 4j..4j+3.
struct Codes {
  uint8x16_t j0, j1, j2, j3;
};

// Columns 16 `part`..16 `part` + 15 of a quarter panel's group; `codes` is the quarter's in the first vector.
template <int kBits>
inline Codes load_codes(const uint8_t* codes, int part) {
  if constexpr (kBits == 4) {
    const uint8x16_t first = vld1q_u8(codes + 128 * part);
    const uint8x16_t second = vld1q_u8(codes + 128 * part + 64);
    const uint8x16_t nibble = vdupq_n_u8(15);
    return {vandq_u8(first, nibble), vshrq_n_u8(first, 4), vandq_u8(second, nibble), vshrq_n_u8(second, 4)};
  } else {
    const uint8_t* const at = codes + 256 * part;
    return {vld1q_u8(at), vld1q_u8(at + 64), vld1q_u8(at + 128), vld1q_u8(at + 192)};
  }
}

// The same with a sign: byte codes less 128.
struct SignedCodes {
  int8x16_t j0, j1, j2, j3;
};
template <int kBits>
inline SignedCodes with_sign(const Codes& w) {
  const uint8x16_t shift = vdupq_n_u8(kBits == 8 ? 128 : 0);
  return {vreinterpretq_s8_u8(veorq_u8(w.j0, shift)), vreinterpretq_s8_u8(veorq_u8(w.j1, shift)),
          vreinterpretq_s8_u8(veorq_u8(w.j2, shift)), vreinterpretq_s8_u8(veorq_u8(w.j3, shift))};
}

// What codes less 128 lose in a group's dot: 128 * sum(128 * high + low).
inline int32_t lost_by_sign(const int8_t* x) {
  int32_t high = 0;
  int32_t low = 0;
  for (int i = 0; i < kGroup; i += 16) {
    high += vaddlvq_s8(vld1q_s8(x + i));
    low += vaddlvq_s8(vld1q_s8(x + kGroup + i));
  }
  return 128 * (128 * high + low);
}
