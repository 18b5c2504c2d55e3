// Panels times quantised columns. For each output: per group an exact integer dot, then in the order of the
// groups  y = fma(dot, scale * step, y); y = fma(bias, sum, y).  The same for 1 column or 500.

constexpr int kMaxCols = 8;
constexpr int kPrefetchBytes = 4096;

// out [kCols, 16]: one panel times kCols columns.
template <int kCols, int kBits>
[[gnu::noinline]] void panel_dots(float* out, const uint8_t* panel, int n_groups,
                                  const uint8_t* const* columns) {
  const int8_t* x[kCols];
  const float* steps[kCols];
  F sums[kCols];
#pragma GCC unroll 8
  for (int c = 0; c < kCols; ++c) {
    x[c] = reinterpret_cast<const int8_t*>(columns[c]);
    steps[c] = reinterpret_cast<const float*>(columns[c] + 2 * kGroup * n_groups);
    sums[c] = zero();
  }
  for (int g = 0; g < n_groups; ++g) {
    for (uint64_t line = 0; line < group_bytes(kBits); line += 64) {
      prefetch(panel + kPrefetchBytes + line);
    }
    I dots[kCols];
    if (kBits == 4) {
      dot_group4<kCols>(dots, panel, x);
    } else {
      dot_group8<kCols>(dots, panel, x);
    }
    const F scale = load_bf16(panel + code_bytes(kBits));
    const F bias = load_bf16(panel + code_bytes(kBits) + 2 * kPanelRows);
#pragma GCC unroll 8
    for (int c = 0; c < kCols; ++c) {
      sums[c] = fma(to_float(dots[c]), scale * splat(steps[c][g]), sums[c]);
      sums[c] = fma(bias, splat(steps[c][n_groups + g]), sums[c]);
      x[c] += 2 * kGroup;
    }
    panel += group_bytes(kBits);
  }
#pragma GCC unroll 8
  for (int c = 0; c < kCols; ++c) {
    store(out + kPanelRows * c, sums[c]);
  }
}

using PanelDots = void (*)(float*, const uint8_t*, int, const uint8_t* const*);

inline PanelDots panel_dots_of(int n_cols, int bits) {
  static constexpr PanelDots kFour[kMaxCols] = {panel_dots<1, 4>, panel_dots<2, 4>, panel_dots<3, 4>,
                                                panel_dots<4, 4>, panel_dots<5, 4>, panel_dots<6, 4>,
                                                panel_dots<7, 4>, panel_dots<8, 4>};
  static constexpr PanelDots kEight[kMaxCols] = {panel_dots<1, 8>, panel_dots<2, 8>, panel_dots<3, 8>,
                                                 panel_dots<4, 8>, panel_dots<5, 8>, panel_dots<6, 8>,
                                                 panel_dots<7, 8>, panel_dots<8, 8>};
  return (bits == 4 ? kFour : kEight)[n_cols - 1];
}

inline int smaller_of(int a, int b) {
  return a < b ? a : b;
}

void project(const ProjectArgs& args, int64_t panel_begin, int64_t panel_end) {
  const int n_groups = args.n_in / kGroup;
  const uint64_t stride = panel_bytes(args.n_in, args.bits);
  alignas(64) float dots[kMaxCols * kPanelRows];
  for (int first = 0; first < args.n_cols; first += kMaxCols) {
    const int n_cols = smaller_of(kMaxCols, args.n_cols - first);
    const uint8_t* columns[kMaxCols];
    for (int c = 0; c < n_cols; ++c) {
      columns[c] = args.x + static_cast<uint64_t>(first + c) * args.x_stride;
    }
    const PanelDots compute = panel_dots_of(n_cols, args.bits);
    for (int64_t panel = panel_begin; panel < panel_end; ++panel) {
      compute(dots, args.panels + static_cast<uint64_t>(panel) * stride, n_groups, columns);
      const int row = static_cast<int>(panel) * kPanelRows;
      for (int c = 0; c < n_cols; ++c) {
        float* const out = args.out + static_cast<uint64_t>(first + c) * args.out_stride + row;
        if (row + kPanelRows > args.n_out) {  // the padded last panel; never added to a residual
          __builtin_memcpy(out, dots + kPanelRows * c, static_cast<size_t>(args.n_out - row) * sizeof(float));
        } else {
          const F y = load(dots + kPanelRows * c);
          store(out, args.add ? load(out) + y : y);
        }
      }
    }
  }
}

// Gate and up are two streams of memory; changing between them for every panel costs a quarter of the speed,
// so each is read for some panels at a time.
constexpr int kUpRun = 16;

void expert_up(const ExpertUpArgs& args, int64_t panel_begin, int64_t panel_end) {
  constexpr int kTile = kMaxCols * kPanelRows;
  const int n_groups = args.n_in / kGroup;
  const uint64_t gate_stride = panel_bytes(args.n_in, args.gate_bits);
  const uint64_t up_stride = panel_bytes(args.n_in, args.up_bits);
  alignas(64) float gates[kUpRun * kTile];
  alignas(64) float ups[kTile];
  for (int first = 0; first < args.n_entries; first += kMaxCols) {
    const int n_cols = smaller_of(kMaxCols, args.n_entries - first);
    const uint8_t* columns[kMaxCols];
    for (int c = 0; c < n_cols; ++c) {
      columns[c] = args.x + static_cast<uint64_t>(args.entries[first + c] / kSlots) * args.x_stride;
    }
    const PanelDots compute_gate = panel_dots_of(n_cols, args.gate_bits);
    const PanelDots compute_up = panel_dots_of(n_cols, args.up_bits);
    for (int64_t run = panel_begin; run < panel_end; run += kUpRun) {
      const int n_panels = static_cast<int>(panel_end - run < kUpRun ? panel_end - run : kUpRun);
      for (int i = 0; i < n_panels; ++i) {
        compute_gate(gates + i * kTile, args.gate + static_cast<uint64_t>(run + i) * gate_stride, n_groups,
                     columns);
      }
      for (int i = 0; i < n_panels; ++i) {
        compute_up(ups, args.up + static_cast<uint64_t>(run + i) * up_stride, n_groups, columns);
        for (int c = 0; c < n_cols; ++c) {
          float* const out = args.activated + static_cast<int64_t>(args.entries[first + c]) * args.width +
                             (run + i) * kPanelRows;
          store(out, silu(load(gates + i * kTile + kPanelRows * c)) * load(ups + kPanelRows * c));
        }
      }
    }
  }
}

void expert_down(const ExpertDownArgs& args, int64_t panel_begin, int64_t panel_end) {
  const int n_groups = args.n_in / kGroup;
  const uint64_t stride = panel_bytes(args.n_in, args.bits);
  alignas(64) float dots[kMaxCols * kPanelRows];
  for (int first = 0; first < args.n_entries; first += kMaxCols) {
    const int n_cols = smaller_of(kMaxCols, args.n_entries - first);
    const uint8_t* columns[kMaxCols];
    for (int c = 0; c < n_cols; ++c) {
      columns[c] = args.x + static_cast<uint64_t>(args.entries[first + c]) * args.x_stride;
    }
    const PanelDots compute = panel_dots_of(n_cols, args.bits);
    for (int64_t panel = panel_begin; panel < panel_end; ++panel) {
      compute(dots, args.panels + static_cast<uint64_t>(panel) * stride, n_groups, columns);
      for (int c = 0; c < n_cols; ++c) {
        float* const out = args.residual +
                           static_cast<int64_t>(args.entries[first + c] / kSlots) * args.hidden +
                           panel * kPanelRows;
        store(out, fma(splat(args.weights[first + c]), load(dots + kPanelRows * c), load(out)));
      }
    }
  }
}
