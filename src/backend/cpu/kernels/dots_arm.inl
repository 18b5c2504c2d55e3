// The integer dots of a panel's group on Arm, four rows (a quarter panel, one register of codes) at a time.
// What multiplies is in the dots_*.inl before this one.

// Quarter panels that run together, so that their accumulators fit the 32 registers beside the operands.
constexpr int quarters_together(int n_cols) {
  return n_cols <= 2 ? 4 : n_cols <= 4 ? 2 : 1;
}

template <int kCols, int kBits>
inline void dot_quarters(int32x4_t (&dots)[4][kCols], const uint8_t* codes, const Activations<kCols>& x) {
  constexpr int kTogether = quarters_together(kCols);
#pragma GCC unroll 4
  for (int first = 0; first < 4; first += kTogether) {
    Sums sums[kTogether][kCols];
#pragma GCC unroll 4
    for (int q = 0; q < kTogether; ++q) {
#pragma GCC unroll 8
      for (int c = 0; c < kCols; ++c) {
        clear(sums[q][c]);
      }
    }
#pragma GCC unroll 1
    for (int part = 0; part < 4; ++part) {
#pragma GCC unroll 4
      for (int q = 0; q < kTogether; ++q) {
        const Weights w = weights_of<kBits>(load_codes<kBits>(codes + 16 * (first + q), part));
#pragma GCC unroll 8
        for (int c = 0; c < kCols; ++c) {
          add_products<kBits>(sums[q][c], w, x, c, part);
        }
      }
    }
#pragma GCC unroll 4
    for (int q = 0; q < kTogether; ++q) {
#pragma GCC unroll 8
      for (int c = 0; c < kCols; ++c) {
        dots[first + q][c] = total(sums[q][c]);
      }
    }
  }
}

template <int kCols, int kBits>
inline void dot_group(I (&dot)[kCols], const uint8_t* codes, const int8_t* const (&x)[kCols]) {
  const Activations<kCols> activations(x);
  int32x4_t dots[4][kCols];
  dot_quarters<kCols, kBits>(dots, codes, activations);
#pragma GCC unroll 8
  for (int c = 0; c < kCols; ++c) {
    dot[c] = {dots[0][c], dots[1][c], dots[2][c], dots[3][c]};
    if constexpr (kBits == 8 && !kTakesUnsignedCodes) {
      dot[c] = dot[c] + splat_int(lost_by_sign(x[c]));
    }
  }
}

// As in lanes_avx512.inl.
template <int kCols>
inline void dot_group4(I (&dot)[kCols], const uint8_t* codes, const int8_t* const (&x)[kCols]) {
  dot_group<kCols, 4>(dot, codes, x);
}
template <int kCols>
inline void dot_group8(I (&dot)[kCols], const uint8_t* codes, const int8_t* const (&x)[kCols]) {
  dot_group<kCols, 8>(dot, codes, x);
}
