// Gated DeltaNet, one value head: convolution and SiLU, l2 norm, gates, the serial delta rule, gated norm.
// The recurrence is serial in prefill too, so that a state never depends on how rows came in chunks.

constexpr int kDeltaBlock = 16;  // rows that share one pass over a strip; also the lanes of the gates

// One block of a head's rows between its steps.
struct DeltaBlock {
  alignas(64) float q[kDeltaBlock][kDeltaDim];
  alignas(64) float k[kDeltaBlock][kDeltaDim];
  alignas(64) float v[kDeltaBlock][kDeltaDim];
  alignas(64) float o[kDeltaBlock][kDeltaDim];
  alignas(64) float decay[kDeltaBlock];
  alignas(64) float beta[kDeltaBlock];
};

alignas(64) constexpr float kZeroHead[kDeltaDim] = {};

// Row t of qkv before the convolution from channel `at` on; t >= -3 reaches into the state.
inline const float* conv_row(const DeltaHeadArgs& args, int t, uint64_t at) {
  if (t >= 0) {
    return args.qkv + static_cast<uint64_t>(t) * args.channels + at;
  }
  return args.conv_in == nullptr ? kZeroHead
                                 : args.conv_in + static_cast<uint64_t>(3 + t) * args.channels + at;
}

// out [128] = silu(sum of 4 taps) of the channels from `at` on.
inline void convolve(float* out, const DeltaHeadArgs& args, int t, uint64_t at) {
  const float* rows[4];
  const float* taps[4];
  for (int j = 0; j < 4; ++j) {
    rows[j] = conv_row(args, t - 3 + j, at);
    taps[j] = args.conv_weight + static_cast<uint64_t>(j) * args.channels + at;
  }
  for (int i = 0; i < kDeltaDim; i += 16) {
    F sum = load(taps[0] + i) * load(rows[0] + i);
    for (int j = 1; j < 4; ++j) {
      sum = fma(load(taps[j] + i), load(rows[j] + i), sum);
    }
    store(out + i, silu(sum));
  }
}

inline void l2_norm(float* x, float scale, float epsilon) {
  const F factor = splat(1.0f / square_root(sum_of_squares(x, kDeltaDim) + epsilon) * scale);
  for (int i = 0; i < kDeltaDim; i += 16) {
    store(x + i, load(x + i) * factor);
  }
}

// beta = sigmoid(b); decay = e^g, g = -e^A_log softplus(a + dt_bias): 0 at the least, never NaN for finite
// input.
inline void compute_gates(DeltaBlock& block, const DeltaHeadArgs& args, int first, int n_rows) {
  alignas(64) float a[kDeltaBlock] = {};
  alignas(64) float b[kDeltaBlock] = {};
  for (int t = 0; t < n_rows; ++t) {
    a[t] = args.a[static_cast<uint64_t>(first + t) * args.gate_stride];
    b[t] = args.b[static_cast<uint64_t>(first + t) * args.gate_stride];
  }
  const F rate = exponential(splat(args.a_log));
  const F log_decay = zero() - rate * softplus(load(a) + splat(args.dt_bias));
  store(block.decay, exponential(log_decay));
  store(block.beta, sigmoid(load(b)));
}

// to = decay * from + k d^T with d = beta (v - decay * from^T k); o = to^T q; for one strip of 32 columns.
// `ahead` is the state that will be read next, fetched meanwhile. kPastCache: `to` is not read again soon and
// goes straight to memory, which saves reading its old lines first.
template <bool kPastCache>
inline void delta_step(float* to, const float* from, const float* ahead, float* o, const float* q,
                       const float* k, const float* v, float decay, float beta) {
  const F decays = splat(decay);
  F recalled[2][2] = {{zero(), zero()}, {zero(), zero()}};
  for (int i = 0; i < kDeltaDim; i += 2) {
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      const F key = splat(k[i + j]);
      recalled[j][0] = fma(key, load(from + (i + j) * kStripColumns), recalled[j][0]);
      recalled[j][1] = fma(key, load(from + (i + j) * kStripColumns + 16), recalled[j][1]);
    }
  }
  const F d0 = splat(beta) * fma_neg(decays, recalled[0][0] + recalled[1][0], load(v));
  const F d1 = splat(beta) * fma_neg(decays, recalled[0][1] + recalled[1][1], load(v + 16));
  F out[2][2] = {{zero(), zero()}, {zero(), zero()}};
  for (int i = 0; i < kDeltaDim; i += 2) {
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      const int at = (i + j) * kStripColumns;
      const F key = splat(k[i + j]);
      const F query = splat(q[i + j]);
      const F s0 = fma(key, d0, decays * load(from + at));
      const F s1 = fma(key, d1, decays * load(from + at + 16));
      prefetch(ahead + at);
      prefetch(ahead + at + 16);
      if (kPastCache) {
        store_past_cache(to + at, s0);
        store_past_cache(to + at + 16, s1);
      } else {
        store(to + at, s0);
        store(to + at + 16, s1);
      }
      out[j][0] = fma(query, s0, out[j][0]);
      out[j][1] = fma(query, s1, out[j][1]);
    }
  }
  store(o, out[0][0] + out[1][0]);
  store(o + 16, out[0][1] + out[1][1]);
}

// Where the state after `n` rows stands. Rows past accepted_rows go to the scratch copy.
inline float* state_after(const DeltaHeadArgs& args, int n) {
  return n <= args.accepted_rows ? args.state_out : args.refused_state;
}

inline bool is_line_aligned(const float* p) {
  return reinterpret_cast<uintptr_t>(p) % 64 == 0;
}

inline void run_strips(DeltaBlock& block, const DeltaHeadArgs& args, int first, int n_rows) {
  const bool past_cache = args.n_rows == 1 && is_line_aligned(args.state_out);
  for (int strip = 0; strip < kDeltaDim / kStripColumns; ++strip) {
    const int column = strip * kStripColumns;
    for (int t = 0; t < n_rows; ++t) {
      const int done = first + t;
      const float* const from =
          (done == 0 && args.state_in != nullptr ? args.state_in : state_after(args, done)) +
          strip * kStripFloats;
      float* const to = state_after(args, done + 1) + strip * kStripFloats;
      const float* const ahead = done == 0 ? from + kStripFloats : from;
      const auto step = past_cache ? delta_step<true> : delta_step<false>;
      step(to, from, ahead, block.o[t] + column, block.q[t], block.k[t], block.v[t] + column, block.decay[t],
           block.beta[t]);
    }
  }
  if (past_cache) {
    finish_stores();
  }
}

// The last three rows that state_out includes, of 128 channels.
inline void keep_history(const DeltaHeadArgs& args, uint64_t at) {
  for (int j = 0; j < 3; ++j) {
    const float* const from = conv_row(args, args.accepted_rows - 3 + j, at);
    float* const to = args.conv_out + static_cast<uint64_t>(j) * args.channels + at;
    for (int i = 0; i < kDeltaDim; i += 16) {
      store(to + i, load(from + i));
    }
  }
}

void delta_head(const DeltaHeadArgs& args) {
  constexpr float kQueryScale = 0.0883883476f;  // 1 / sqrt(128)
  DeltaBlock block;
  if (args.state_in == nullptr) {
    for (int i = 0; i < kDeltaHeadFloats; i += 16) {
      store(args.state_out + i, zero());
    }
  }
  for (int first = 0; first < args.n_rows; first += kDeltaBlock) {
    const int n_rows = smaller_of(kDeltaBlock, args.n_rows - first);
    for (int t = 0; t < n_rows; ++t) {
      convolve(block.q[t], args, first + t, args.q_at);
      convolve(block.k[t], args, first + t, args.k_at);
      convolve(block.v[t], args, first + t, args.v_at);
      l2_norm(block.q[t], kQueryScale, args.l2_epsilon);
      l2_norm(block.k[t], 1.0f, args.l2_epsilon);
    }
    compute_gates(block, args, first, n_rows);
    run_strips(block, args, first, n_rows);
    for (int t = 0; t < n_rows; ++t) {
      const uint64_t at = static_cast<uint64_t>(first + t) * args.value_stride;
      rms_norm(block.o[t], block.o[t], args.norm, kDeltaDim);
      for (int i = 0; i < kDeltaDim; i += 16) {
        store(args.mixed + at + i, load(block.o[t] + i) * silu(load(args.z + at + i)));
      }
    }
  }
  keep_history(args, args.v_at);
  if (args.stores_q_and_k) {
    keep_history(args, args.q_at);
    keep_history(args, args.k_at);
  }
}
