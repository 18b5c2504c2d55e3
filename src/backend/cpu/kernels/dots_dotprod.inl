// The products of dots_arm.inl by vdotq: four products a 32-bit lane.

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

inline int32x4_t add_plane(int32x4_t sum, const Weights& w, int8x16_t x) {
  sum = vdotq_laneq_s32(sum, w.j0, x, 0);
  sum = vdotq_laneq_s32(sum, w.j1, x, 1);
  sum = vdotq_laneq_s32(sum, w.j2, x, 2);
  return vdotq_laneq_s32(sum, w.j3, x, 3);
}

template <int kBits, int kCols>
inline void add_products(Sums& s, const Weights& w, const Activations<kCols>& x, int c, int part) {
  s.high = add_plane(s.high, w, vld1q_s8(x.x[c] + 16 * part));
  s.low = add_plane(s.low, w, vld1q_s8(x.x[c] + kGroup + 16 * part));
}

// 128 * high + low of the four rows.
inline int32x4_t total(const Sums& s) {
  return vaddq_s32(vshlq_n_s32(s.high, 7), s.low);
}
