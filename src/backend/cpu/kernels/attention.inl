// Attention over absolute blocks of 64 tokens, folded in order: each block gives its largest score m, the sum l
// of e^(score - m) and the values weighted by them, computed without regard to the blocks before; then
//   M' = max(M, m); L = L e^(M - M') + l e^(m - M'); A = A e^(M - M') + a e^(m - M').
// So a row's result is the same whatever rows run beside it and however blocks are spread.

constexpr int kHeads = kHeadsPerKvHead;
constexpr int kRunTokens = 16;
constexpr int kScoreHeads = kAccumulators >= 8 ? 8 : 4;          // query heads a pass over K
constexpr int kValueVectors = kAccumulators >= 16 ? 2 : 1;       // vectors of 16 dims a pass over V
constexpr int kValueHeads = kAccumulators / kValueVectors < 8 ? kAccumulators / kValueVectors : 8;

// Scores, then weights, of one row's heads with one block.
struct BlockScores {
  alignas(64) float weight[kHeads][kBlockTokens];
  alignas(64) float largest[16];  // a head a lane, the lanes past the heads unused
  alignas(64) float sum[16];
};

inline void score_run(BlockScores& s, int run, const float* q, const uint16_t* keys, int n_tokens) {
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
inline void block_weights(BlockScores& s, const float* q, const uint16_t* keys, int n_tokens) {
  const int n_runs = (n_tokens + kRunTokens - 1) / kRunTokens;
  for (int run = 0; run < n_runs; ++run) {
    score_run(s, run, q, keys + run * kRunTokens * kHeadDim, n_tokens - run * kRunTokens);
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

// out [8, 256] = weights times V. Only the tokens that exist are read.
inline void weigh_values(float* out, const BlockScores& s, const uint16_t* values, int n_tokens) {
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

// What a row's heads have gathered so far; the values stand in the scratch.
struct RunningRow {
  alignas(64) float largest[16];
  alignas(64) float sum[16];
};

inline void fold_block(RunningRow& row, float* gathered, const BlockScores& s, const float* block_values) {
  alignas(64) float old_factor[16];
  alignas(64) float new_factor[16];
  const F largest = larger(load(s.largest), load(row.largest));
  store(old_factor, exponential(load(row.largest) - largest));
  store(new_factor, exponential(load(s.largest) - largest));
  store(row.sum, fma(load(s.sum), load(new_factor), load(row.sum) * load(old_factor)));
  store(row.largest, largest);
  for (int h = 0; h < kHeads; ++h) {
    const F old_part = splat(old_factor[h]);
    const F new_part = splat(new_factor[h]);
    for (int d = h * kHeadDim; d < (h + 1) * kHeadDim; d += 16) {
      store(gathered + d, fma(load(block_values + d), new_part, load(gathered + d) * old_part));
    }
  }
}

inline void finish_row(float* mixed, const float* gate, const RunningRow& row, const float* gathered) {
  for (int h = 0; h < kHeads; ++h) {
    const F inverse = splat(1.0f / row.sum[h]);
    for (int d = h * kHeadDim; d < (h + 1) * kHeadDim; d += 16) {
      store(mixed + d, load(gathered + d) * inverse * sigmoid(load(gate + d)));
    }
  }
}

void attend(const AttendArgs& args) {
  constexpr int kRowFloats = kHeads * kHeadDim;
  RunningRow rows[kAttendRows];
  float* const block_values = args.scratch + kAttendRows * kRowFloats;
  BlockScores scores{};
  for (int r = 0; r < args.n_rows; ++r) {
    store(rows[r].largest, splat(-__builtin_inff()));
    store(rows[r].sum, zero());
    for (int d = 0; d < kRowFloats; d += 16) {
      store(args.scratch + r * kRowFloats + d, zero());
    }
  }
  const int last_block = (args.first_position + args.n_rows - 1) / kBlockTokens;
  for (int block = 0; block <= last_block; ++block) {
    const uint8_t* const head = args.cache + static_cast<uint64_t>(args.blocks[block]) * kKvBlockBytes;
    for (int r = 0; r < args.n_rows; ++r) {
      const int seen = args.first_position + r + 1 - block * kBlockTokens;  // tokens of this block that row r sees
      if (seen > 0) {
        const int n_tokens = smaller_of(seen, kBlockTokens);
        const float* const q = args.q + static_cast<uint64_t>(r) * args.stride;
        block_weights(scores, q, reinterpret_cast<const uint16_t*>(head), n_tokens);
        weigh_values(block_values, scores, reinterpret_cast<const uint16_t*>(head + kKvHeadBytes / 2), n_tokens);
        fold_block(rows[r], args.scratch + r * kRowFloats, scores, block_values);
      }
    }
  }
  for (int r = 0; r < args.n_rows; ++r) {
    const uint64_t at = static_cast<uint64_t>(r) * args.stride;
    finish_row(args.mixed + at, args.gate + at, rows[r], args.scratch + r * kRowFloats);
  }
}
