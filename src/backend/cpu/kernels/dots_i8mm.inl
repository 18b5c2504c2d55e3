// The products of dots_arm.inl by vusmmlaq: two rows of 8 codes times two columns of 8 activations. The two
// columns are the planes of one, so one column takes as many instructions as with vdotq; every further column
// takes half as many.

constexpr bool kTakesUnsignedCodes = true;

// The four rows of a quarter panel with one column: (row 0 high, row 0 low, row 1 high, row 1 low), and so
// on.
struct Sums {
  int32x4_t rows01, rows23;
};

inline void clear(Sums& s) {
  s.rows01 = s.rows23 = vdupq_n_s32(0);
}

// The planes of a group side by side, 8 activations of each; arranged once for the four quarters of a panel.
template <int kCols>
struct Activations {
  int8x16_t x[kCols][8];

  explicit Activations(const int8_t* const (&columns)[kCols]) {
#pragma GCC unroll 8
    for (int c = 0; c < kCols; ++c) {
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) {
        x[c][i] = vcombine_s8(vld1_s8(columns[c] + 8 * i), vld1_s8(columns[c] + kGroup + 8 * i));
      }
    }
  }
};

// 8 columns of two rows each.
struct Weights {
  uint8x16_t first01, first23, second01, second23;
};

inline uint8x16_t zip_low(uint8x16_t x, uint8x16_t y) {
  return vreinterpretq_u8_u32(vzip1q_u32(vreinterpretq_u32_u8(x), vreinterpretq_u32_u8(y)));
}
inline uint8x16_t zip_high(uint8x16_t x, uint8x16_t y) {
  return vreinterpretq_u8_u32(vzip2q_u32(vreinterpretq_u32_u8(x), vreinterpretq_u32_u8(y)));
}

template <int kBits>
inline Weights weights_of(const Codes& w) {
  return {zip_low(w.j0, w.j1), zip_high(w.j0, w.j1), zip_low(w.j2, w.j3), zip_high(w.j2, w.j3)};
}

template <int kBits, int kCols>
inline void add_products(Sums& s, const Weights& w, const Activations<kCols>& x, int c, int part) {
  s.rows01 = vusmmlaq_s32(s.rows01, w.first01, x.x[c][2 * part]);
  s.rows23 = vusmmlaq_s32(s.rows23, w.first23, x.x[c][2 * part]);
  s.rows01 = vusmmlaq_s32(s.rows01, w.second01, x.x[c][2 * part + 1]);
  s.rows23 = vusmmlaq_s32(s.rows23, w.second23, x.x[c][2 * part + 1]);
}

// 128 * high + low of the four rows.
inline int32x4_t total(const Sums& s) {
  const int32x4_t high = vuzp1q_s32(s.rows01, s.rows23);
  const int32x4_t low = vuzp2q_s32(s.rows01, s.rows23);
  return vaddq_s32(vshlq_n_s32(high, 7), low);
}
