// Ops between the projections: the delta rule's heads, and attention over the KV blocks.

template <class Shape>
void CpuBackend<Shape>::gdn_mix(const GdnMixOp& op) {
  const StepHeader& step = *op.step;
  constexpr int kHeads = Shape::kValueHeads;
  constexpr int kHeadsPerKey = kHeads / Shape::kKeyHeads;
  const uint64_t key_width = static_cast<uint64_t>(Shape::kKeyHeads) * kDeltaDim;
  const uint64_t value_width = static_cast<uint64_t>(kHeads) * kDeltaDim;
  const uint64_t channels = 2 * key_width + value_width;
  const auto run_head = [&](int sequence_index, int head, int thread) {
    const StepSequence& s = step.sequences[sequence_index];
    const auto first = static_cast<uint64_t>(s.first_row);
    const uint64_t value_at = static_cast<uint64_t>(head) * kDeltaDim;
    const uint64_t key_at = static_cast<uint64_t>(head / kHeadsPerKey) * kDeltaDim;
    const uint64_t state_at = static_cast<uint64_t>(head) * kDeltaHeadFloats;
    const bool fresh = s.state_in == kNoState;
    const uint64_t in = fresh ? 0 : static_cast<uint64_t>(s.state_in) * op.slot_stride;
    const uint64_t out = static_cast<uint64_t>(s.state_out) * op.slot_stride;
    const uint64_t gates = first * kHeads + static_cast<uint64_t>(head);
    DeltaHeadArgs args{};
    args.n_rows = s.n_rows;
    args.accepted_rows = s.accepted_rows;
    args.qkv = op.qkv + first * channels;
    args.channels = channels;
    args.q_at = key_at;
    args.k_at = key_width + key_at;
    args.v_at = 2 * key_width + value_at;
    args.stores_q_and_k = head % kHeadsPerKey == 0;
    args.conv_weight = op.conv_weight;
    args.conv_in = fresh ? nullptr : op.conv_state + in;
    args.conv_out = op.conv_state + out;
    args.a = op.a + gates;
    args.b = op.b + gates;
    args.gate_stride = kHeads;
    args.a_log = op.a_log[head];
    args.dt_bias = op.dt_bias[head];
    args.l2_epsilon = l2_epsilon_;
    args.norm = op.norm;
    args.z = op.z + first * value_width + value_at;
    args.mixed = op.mixed + first * value_width + value_at;
    args.value_stride = value_width;
    args.state_in = fresh ? nullptr : op.delta_state + in + state_at;
    args.state_out = op.delta_state + out + state_at;
    args.refused_state = reinterpret_cast<float*>(thread_scratch(thread));
    kernels_.delta_head(args);
  };
  pool_.run_dynamic(static_cast<int64_t>(step.n_sequences) * kHeads, 1,
                    [&](int64_t begin, int64_t end, int thread) {
                      for (int64_t unit = begin; unit < end; ++unit) {
                        run_head(static_cast<int>(unit / kHeads), static_cast<int>(unit % kHeads), thread);
                      }
                    });
}

// The KV head's part of the block that holds a row's position.
template <class Shape>
uint8_t* CpuBackend<Shape>::cache_head(const StepHeader& step, const StepRow& row, void* cache, int kv_head) {
  const StepSequence& s = step.sequences[row.sequence];
  const int32_t block = step.block_tables[s.block_table + row.position / kBlockTokens];
  return static_cast<uint8_t*>(cache) + static_cast<uint64_t>(block) * kKvBlockBytes +
         static_cast<uint64_t>(kv_head) * kKvHeadBytes;
}

template <class Shape>
void CpuBackend<Shape>::attn_project(const AttnProjectOp& op) {
  const StepHeader& step = *op.step;
  constexpr int kQueryWidth = Shape::kQueryHeads * kHeadDim;
  constexpr int kKvWidth = Shape::kKvHeads * kHeadDim;
  const QuantizedRows x = quantize_rows(op.residual, op.norm, step.n_rows, Shape::kHidden);
  float* const k_rows = rows_.floats(static_cast<uint64_t>(step.n_rows) * 2 * kKvWidth, "keys and values");
  float* const v_rows = k_rows + static_cast<int64_t>(step.n_rows) * kKvWidth;
  // repack() put all query rows before all gate rows.
  const Projection parts[] = {{&op.q_gate, op.q_out, 0, kQueryWidth},
                              {&op.q_gate, op.gate_out, panel_count(kQueryWidth), kQueryWidth},
                              whole(op.k, k_rows),
                              whole(op.v, v_rows)};
  project(parts, x, step.n_rows);
  for_rows(step.n_rows, [&](int r, int) {
    const StepRow& row = step.rows[r];
    const float* const rope = op.rope + static_cast<int64_t>(r) * Shape::kRotaryDims;
    for (int head = 0; head < Shape::kQueryHeads; ++head) {
      float* const q = op.q_out + static_cast<int64_t>(r) * kQueryWidth + head * kHeadDim;
      kernels_.norm_rope(q, q, op.q_norm, rope);
    }
    for (int head = 0; head < Shape::kKvHeads; ++head) {
      const int64_t at = static_cast<int64_t>(r) * kKvWidth + head * kHeadDim;
      kernels_.norm_rope(k_rows + at, k_rows + at, op.k_norm, rope);
      kernels_.cache_token(cache_head(step, row, op.kv_cache, head), row.position % kBlockTokens, k_rows + at,
                           v_rows + at);
    }
  });
}

template <class Shape>
AttendArgs CpuBackend<Shape>::attend_args(const AttnMixOp& op, const RowTile& tile, int kv_head) const {
  const StepHeader& step = *op.step;
  constexpr uint64_t kQueryWidth = static_cast<uint64_t>(Shape::kQueryHeads) * kHeadDim;
  const auto head = static_cast<uint64_t>(kv_head);
  const uint64_t at = static_cast<uint64_t>(tile.first_row) * kQueryWidth + head * kHeadsPerKvHead * kHeadDim;
  return {tile.n_rows,
          step.rows[tile.first_row].position,
          op.q + at,
          op.gate + at,
          op.mixed + at,
          kQueryWidth,
          static_cast<const uint8_t*>(op.kv_cache) + head * kKvHeadBytes,
          step.block_tables + step.sequences[tile.sequence].block_table,
          nullptr};
}

template <class Shape>
void CpuBackend<Shape>::cut_into_tiles(const StepHeader& step, int tile_rows) {
  tiles_.clear();
  for (int i = 0; i < step.n_sequences; ++i) {
    const StepSequence& s = step.sequences[i];
    for (int row = 0; row < s.n_rows; row += tile_rows) {
      tiles_.push_back({i, s.first_row + row, std::min(tile_rows, s.n_rows - row)});
    }
  }
}

// A tile of rows and a KV head is a unit of work; with fewer of them than threads, blocks are.
template <class Shape>
void CpuBackend<Shape>::attn_mix(const AttnMixOp& op) {
  const StepHeader& step = *op.step;
  cut_into_tiles(step, kAttendRows);
  if (static_cast<int>(tiles_.size()) * Shape::kKvHeads < pool_.size() && step.is_prefill == 0) {
    cut_into_tiles(step, 1);
    attend_by_blocks(op);
    return;
  }
  const auto n_units = static_cast<int64_t>(tiles_.size()) * Shape::kKvHeads;
  pool_.run_dynamic(n_units, 1, [&](int64_t begin, int64_t end, int thread) {
    for (int64_t unit = begin; unit < end; ++unit) {
      // Later rows see more tokens: they go first, so that threads end together.
      const RowTile& tile = tiles_[tiles_.size() - 1 - static_cast<size_t>(unit / Shape::kKvHeads)];
      AttendArgs args = attend_args(op, tile, static_cast<int>(unit % Shape::kKvHeads));
      args.scratch = reinterpret_cast<float*>(thread_scratch(thread));
      kernels_.attend(args);
    }
  });
}

// Decode: windows of blocks of every row and KV head, first each block's part, then the folds, in order.
template <class Shape>
void CpuBackend<Shape>::attend_by_blocks(const AttnMixOp& op) {
  constexpr int kWindow = kSplitBlocks;
  const auto n_units = static_cast<int64_t>(tiles_.size()) * Shape::kKvHeads;
  int n_blocks = 0;
  for (const RowTile& tile : tiles_) {
    n_blocks = std::max(n_blocks, op.step->rows[tile.first_row].position / kBlockTokens + 1);
  }
  float* const gathered = rows_.floats(static_cast<uint64_t>(n_units) * (1 + kWindow) * kPartialFloats,
                                       "attention of split rows");
  float* const partials = gathered + static_cast<uint64_t>(n_units) * kPartialFloats;
  const auto args_of = [&](int64_t unit) {
    return attend_args(op, tiles_[static_cast<size_t>(unit / Shape::kKvHeads)],
                       static_cast<int>(unit % Shape::kKvHeads));
  };
  const auto blocks_of = [](const AttendArgs& args) { return args.first_position / kBlockTokens + 1; };
  for (int first = 0; first < n_blocks; first += kWindow) {
    const int window = std::min(kWindow, n_blocks - first);
    pool_.run_dynamic(n_units * window, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        const AttendArgs args = args_of(i / window);
        const int block = first + static_cast<int>(i % window);
        if (block < blocks_of(args)) {
          kernels_.attend_block(partials + static_cast<uint64_t>(i) * kPartialFloats, args, block);
        }
      }
    });
    pool_.run(n_units, [&](int64_t begin, int64_t end, int) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const AttendArgs args = args_of(unit);
        const int count = std::min(window, blocks_of(args) - first);
        if (count > 0) {
          kernels_.attend_fold(gathered + static_cast<uint64_t>(unit) * kPartialFloats,
                               partials + static_cast<uint64_t>(unit * window) * kPartialFloats, count,
                               first == 0, first + count == blocks_of(args), args);
        }
      }
    });
  }
}
