// The products of dots_arm.inl by widening multiplication, for processors with neither dotprod nor i8mm.

constexpr bool kTakesUnsignedCodes = false;

// The four rows of a quarter panel with one column.
struct Sums {
  int32x4_t high, low;
};

inline void clear(Sums& s) {
  s.high = s.low = vdupq_n_s32(0);
}

// A column's activations are used where they are.
template <int kCols>
struct Activations {
  const int8_t* x[kCols];

  explicit Activations(const int8_t* const (&columns)[kCols]) {
    for (int c = 0; c < kCols; ++c) {
      x[c] = columns[c];
    }
  }
};

using Weights = SignedCodes;
template <int kBits>
inline Weights weights_of(const Codes& codes) {
  return with_sign<kBits>(codes);
}

// Four activations, twice.
template <int kLane>
inline int8x8_t quad(int8x16_t x) {
  return vreinterpret_s8_s32(vdup_laneq_s32(vreinterpretq_s32_s8(x), kLane));
}

// The products of rows 0 and 1, or 2 and 3, with quads kLane and kLane + 1 of x, added: they fit 16 bits,
// since 2 * 128 * 127 = 32,512.
template <int kLane>
inline int16x8_t two_quads(int8x8_t even, int8x8_t odd, int8x16_t x) {
  return vmlal_s8(vmull_s8(even, quad<kLane>(x)), odd, quad<kLane + 1>(x));
}

template <int kBits>
inline int32x4_t add_plane(int32x4_t sum, const Weights& w, int8x16_t x) {
  const int16x8_t first01 = two_quads<0>(vget_low_s8(w.j0), vget_low_s8(w.j1), x);
  const int16x8_t first23 = two_quads<0>(vget_high_s8(w.j0), vget_high_s8(w.j1), x);
  const int16x8_t second01 = two_quads<2>(vget_low_s8(w.j2), vget_low_s8(w.j3), x);
  const int16x8_t second23 = two_quads<2>(vget_high_s8(w.j2), vget_high_s8(w.j3), x);
  if constexpr (kBits == 4) {  // eight products fit too: 8 * 15 * 127 = 15,240
    return vpadalq_s16(sum, vpaddq_s16(vaddq_s16(first01, second01), vaddq_s16(first23, second23)));
  } else {
    const int32x4_t rows01 = vpadalq_s16(vpaddlq_s16(first01), second01);
    const int32x4_t rows23 = vpadalq_s16(vpaddlq_s16(first23), second23);
    return vaddq_s32(sum, vpaddq_s32(rows01, rows23));
  }
}

template <int kBits, int kCols>
inline void add_products(Sums& s, const Weights& w, const Activations<kCols>& x, int c, int part) {
  s.high = add_plane<kBits>(s.high, w, vld1q_s8(x.x[c] + 16 * part));
  s.low = add_plane<kBits>(s.low, w, vld1q_s8(x.x[c] + kGroup + 16 * part));
}

// 128 * high + low of the four rows.
inline int32x4_t total(const Sums& s) {
  return vaddq_s32(vshlq_n_s32(s.high, 7), s.low);
}
