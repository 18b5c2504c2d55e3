// Attention over absolute blocks of 64 tokens, folded in order: each block gives its largest score m, the sum
// l of e^(score - m) and the values weighted by them, computed without regard to the blocks before; then
//   M' = max(M, m); L = L e^(M - M') + l e^(m - M'); A = A e^(M - M') + a e^(m - M').
// So a row's result is the same whatever rows run beside it and however blocks are spread.

constexpr int kHeads = kHeadsPerKvHead;
constexpr int kRunTokens = 16;
constexpr int kScoreHeads = kAccumulators >= 8 ? 8 : 4;     // query heads a pass over K
constexpr int kValueVectors = kAccumulators >= 16 ? 2 : 1;  // vectors of 16 dims a pass over V
constexpr int kValueHeads = kAccumulators / kValueVectors < 8 ? kAccumulators / kValueVectors : 8;

// Scores, then weights, of one row's heads with one block.
struct BlockScores {
  alignas(64) float weight[kHeads][kBlockTokens];
  alignas(64) float largest[16];  // a head a lane, the lanes past the heads unused
  alignas(64) float sum[16];
};

// While K is read, the block's V is fetched into the cache: a line of it for every two dims and run.
inline void score_run(BlockScores& s, int run, const float* q, const uint16_t* keys, const uint16_t* values,
                      int n_tokens) {
  const F scale = splat(0.0625f);
  const F valid = splat(static_cast<float>(n_tokens));
  for (int first = 0; first < kHeads; first += kScoreHeads) {
    F sums[kScoreHeads];
#pragma GCC unroll 8
    for (int h = 0; h < kScoreHeads; ++h) {
      sums[h] = zero();
    }
    for (int d = 0; d < kHeadDim; ++d) {
      const F key = load_f16(keys + d * kRunTokens);
      prefetch(values + (run * kRunTokens + d / 16) * kHeadDim + d % 16 * 16);
#pragma GCC unroll 8
      for (int h = 0; h < kScoreHeads; ++h) {
        sums[h] = fma(splat(q[(first + h) * kHeadDim + d]), key, sums[h]);
      }
    }
#pragma GCC unroll 8
    for (int h = 0; h < kScoreHeads; ++h) {
      const F masked = where_less(lane_numbers(), valid, sums[h] * scale, splat(-__builtin_inff()));
      store(s.weight[first + h] + run * kRunTokens, masked);
    }
  }
}

// Scores of the first n_tokens of a block become weights relative to the block's largest.
inline void block_weights(BlockScores& s, const float* q, const uint16_t* keys, const uint16_t* values,
                          int n_tokens) {
  const int n_runs = (n_tokens + kRunTokens - 1) / kRunTokens;
  for (int run = 0; run < n_runs; ++run) {
    score_run(s, run, q, keys + run * kRunTokens * kHeadDim, values, n_tokens - run * kRunTokens);
  }
  for (int h = 0; h < kHeads; ++h) {
    F peak = splat(-__builtin_inff());
    for (int run = 0; run < n_runs; ++run) {
      peak = larger(load(s.weight[h] + run * kRunTokens), peak);
    }
    s.largest[h] = largest_lane(peak);
    const F shift = splat(s.largest[h]);
    F total = zero();
    for (int run = 0; run < n_runs; ++run) {
      const F weight = exponential(load(s.weight[h] + run * kRunTokens) - shift);
      store(s.weight[h] + run * kRunTokens, weight);
      total = total + weight;
    }
    s.sum[h] = sum_lanes(total);
  }
}

// out [8, 256] = weights times V. Only the tokens that exist are read. `next` is the K that will be read
// next: it is fetched into the cache meanwhile.
inline void weigh_values(float* out, const BlockScores& s, const uint16_t* values, const uint16_t* next,
                         int n_tokens) {
  for (int first = 0; first < kHeads; first += kValueHeads) {
    for (int d = 0; d < kHeadDim; d += 16 * kValueVectors) {
      F sums[kValueHeads][kValueVectors];
#pragma GCC unroll 8
      for (int h = 0; h < kValueHeads; ++h) {
#pragma GCC unroll 2
        for (int j = 0; j < kValueVectors; ++j) {
          sums[h][j] = zero();
        }
      }
      for (int t = 0; t < n_tokens; ++t) {
        F value[kValueVectors];
#pragma GCC unroll 2
        for (int j = 0; j < kValueVectors; ++j) {
          value[j] = load_f16(values + t * kHeadDim + d + 16 * j);
        }
        prefetch_second_level(next + (d / (16 * kValueVectors) * kBlockTokens + t) * 32);
#pragma GCC unroll 8
        for (int h = 0; h < kValueHeads; ++h) {
          const F weight = splat(s.weight[first + h][t]);
#pragma GCC unroll 2
          for (int j = 0; j < kValueVectors; ++j) {
            sums[h][j] = fma(weight, value[j], sums[h][j]);
          }
        }
      }
#pragma GCC unroll 8
      for (int h = 0; h < kValueHeads; ++h) {
#pragma GCC unroll 2
        for (int j = 0; j < kValueVectors; ++j) {
          store(out + (first + h) * kHeadDim + d + 16 * j, sums[h][j]);
        }
      }
    }
  }
}

// One row's heads with one block: what attend_block gives and fold gathers. As floats [kPartialFloats].
struct Partial {
  alignas(64) float largest[16];  // a head a lane, the lanes past the heads unused
  alignas(64) float sum[16];
  alignas(64) float values[kHeads * kHeadDim];
};
static_assert(sizeof(Partial) == kPartialFloats * sizeof(float));

inline void clear_partial(Partial& gathered) {
  store(gathered.largest, splat(-__builtin_inff()));
  store(gathered.sum, zero());
  for (int d = 0; d < kHeads * kHeadDim; d += 16) {
    store(gathered.values + d, zero());
  }
}

inline void compute_partial(Partial& out, const float* q, const uint8_t* head, const uint8_t* next_head,
                            int n_tokens) {
  const uint16_t* const keys = reinterpret_cast<const uint16_t*>(head);
  const uint16_t* const values = reinterpret_cast<const uint16_t*>(head + kKvHeadBytes / 2);
  BlockScores scores;
  block_weights(scores, q, keys, values, n_tokens);
  weigh_values(out.values, scores, values, reinterpret_cast<const uint16_t*>(next_head), n_tokens);
  store(out.largest, load(scores.largest));
  store(out.sum, load(scores.sum));
}

inline void fold_partial(Partial& gathered, const Partial& block) {
  alignas(64) float old_factor[16];
  alignas(64) float new_factor[16];
  const F largest = larger(load(block.largest), load(gathered.largest));
  store(old_factor, exponential(load(gathered.largest) - largest));
  store(new_factor, exponential(load(block.largest) - largest));
  store(gathered.sum, fma(load(block.sum), load(new_factor), load(gathered.sum) * load(old_factor)));
  store(gathered.largest, largest);
  for (int h = 0; h < kHeads; ++h) {
    const F old_part = splat(old_factor[h]);
    const F new_part = splat(new_factor[h]);
    for (int d = h * kHeadDim; d < (h + 1) * kHeadDim; d += 16) {
      store(gathered.values + d, fma(load(block.values + d), new_part, load(gathered.values + d) * old_part));
    }
  }
}

inline void finish_row(float* mixed, const float* gate, const Partial& gathered) {
  for (int h = 0; h < kHeads; ++h) {
    const F inverse = splat(1.0f / gathered.sum[h]);
    for (int d = h * kHeadDim; d < (h + 1) * kHeadDim; d += 16) {
      store(mixed + d, load(gathered.values + d) * inverse * sigmoid(load(gate + d)));
    }
  }
}

inline const uint8_t* head_of(const AttendArgs& args, int block) {
  return args.cache + static_cast<uint64_t>(args.blocks[block]) * kKvBlockBytes;
}

// Tokens of `block` that the row at `position` sees.
inline int tokens_seen(int position, int block) {
  return smaller_of(position + 1 - block * kBlockTokens, kBlockTokens);
}

void attend(const AttendArgs& args) {
  Partial* const rows = reinterpret_cast<Partial*>(args.scratch);
  Partial& block_partial = rows[kAttendRows];
  for (int r = 0; r < args.n_rows; ++r) {
    clear_partial(rows[r]);
  }
  const int last_block = (args.first_position + args.n_rows - 1) / kBlockTokens;
  for (int block = 0; block <= last_block; ++block) {
    const uint8_t* const next = head_of(args, smaller_of(block + 1, last_block));
    for (int r = 0; r < args.n_rows; ++r) {
      const int n_tokens = tokens_seen(args.first_position + r, block);
      if (n_tokens > 0) {
        compute_partial(block_partial, args.q + static_cast<uint64_t>(r) * args.stride, head_of(args, block),
                        next, n_tokens);
        fold_partial(rows[r], block_partial);
      }
    }
  }
  for (int r = 0; r < args.n_rows; ++r) {
    const uint64_t at = static_cast<uint64_t>(r) * args.stride;
    finish_row(args.mixed + at, args.gate + at, rows[r]);
  }
}

void attend_block(float* partial, const AttendArgs& args, int block) {
  const int last_block = args.first_position / kBlockTokens;
  compute_partial(*reinterpret_cast<Partial*>(partial), args.q, head_of(args, block),
                  head_of(args, smaller_of(block + 1, last_block)), tokens_seen(args.first_position, block));
}

void attend_fold(float* gathered, const float* partials, int n_partials, bool first, bool last,
                 const AttendArgs& args) {
  Partial& all = *reinterpret_cast<Partial*>(gathered);
  if (first) {
    clear_partial(all);
  }
  for (int i = 0; i < n_partials; ++i) {
    fold_partial(all, reinterpret_cast<const Partial*>(partials)[i]);
  }
  if (last) {
    finish_row(args.mixed, args.gate, all);
  }
}
