// The kernels' interface: what one thread computes on one range of work. Each instruction set fills the same
// table; it is chosen once, when the backend is made. All tables give the same bits for the same arguments
// (save the sign and payload of a NaN), and a row's result never depends on the rows beside it. No kernel
// allocates, throws or synchronises.
//
// The sources (*.inl) are compiled once an instruction set, inside an unnamed namespace and with that set's
// flags: they include nothing with inline functions, so that no code of one set can be linked into another.
#pragma once

#include "backend/cpu/panels.h"

namespace orfebre::cpu {

// y[c] = W x[c] (or y[c] += W x[c]) for quantised rows x[0..n_cols).
struct ProjectArgs {
  const uint8_t* panels;
  int bits;
  int n_in;
  int n_out;
  const uint8_t* x;  // quantised row c at x + c * x_stride
  uint64_t x_stride;
  int n_cols;
  float* out;  // row c at out + c * out_stride
  uint64_t out_stride;
  bool add;
};

// Slots of a row: 8 routed experts and the shared one. An entry is row * kSlots + slot.
constexpr int kSlots = CommonShape::kActiveExperts + 1;

// activated[entry] = silu(G x[row]) * (U x[row]) for the entries of one expert.
struct ExpertUpArgs {
  const uint8_t* gate;
  const uint8_t* up;
  int gate_bits;
  int up_bits;
  int n_in;
  int width;
  const uint8_t* x;  // quantised row at x + row * x_stride
  uint64_t x_stride;
  const int32_t* entries;
  int n_entries;
  float* activated;  // [entries, width]
};

// residual[row] += weight * D activated[entry] for the entries of one expert.
struct ExpertDownArgs {
  const uint8_t* panels;
  int bits;
  int n_in;
  int hidden;
  const uint8_t* x;  // quantised activated[entry] at x + entry * x_stride
  uint64_t x_stride;
  const int32_t* entries;
  const float* weights;  // [n_entries]
  int n_entries;
  float* residual;  // [R, hidden]
};

// One value head of one sequence of gdn_mix, all its rows.
struct DeltaHeadArgs {
  int n_rows;
  int accepted_rows;
  const float* qkv;  // [n_rows, channels]
  uint64_t channels;
  uint64_t q_at, k_at, v_at;  // channels where this head's q, k and v begin
  bool stores_q_and_k;        // of the heads that share a key head one writes its convolution state
  const float* conv_weight;   // [4, channels]
  const float* conv_in;       // [3, channels], or null: zeros
  float* conv_out;            // [3, channels]
  const float* a;             // [n_rows], stride gate_stride
  const float* b;
  uint64_t gate_stride;
  float a_log;
  float dt_bias;
  float l2_epsilon;
  const float* norm;  // [128]
  const float* z;     // [n_rows, 128], stride value_stride
  float* mixed;       // [n_rows, 128], stride value_stride
  uint64_t value_stride;
  const float* state_in;  // [4, 128, 32], or null: zeros
  float* state_out;
  float* refused_state;  // scratch for the rows after accepted_rows, as large
};

// Attention of consecutive rows of one sequence, the 8 query heads of one KV head.
constexpr int kAttendRows = 8;
constexpr uint64_t kPartialFloats = 32u + static_cast<uint64_t>(kHeadsPerKvHead * kHeadDim);
constexpr uint64_t kAttendScratchFloats = static_cast<uint64_t>(kAttendRows + 1) * kPartialFloats;
struct AttendArgs {
  int n_rows;  // at most kAttendRows
  int first_position;
  const float* q;     // row r at q + r * stride: [8, 256]
  const float* gate;  // as q
  float* mixed;       // as q
  uint64_t stride;
  const uint8_t* cache;   // the KV head's part of block 0
  const int32_t* blocks;  // block of positions [64 b, 64 b + 64)
  float* scratch;         // kAttendScratchFloats
};

struct Kernels {
  const char* name;

  // out = x * weight / sqrt(mean(x^2) + 1e-6), n values, a multiple of 64. out may be x.
  void (*rms_norm)(float* out, const float* x, const float* weight, int n);
  // x [n] to quantized_row_bytes(n).
  void (*quantize)(uint8_t* out, const float* x, int n);
  void (*embed)(float* out, const uint8_t* row, int n, int bits);
  // Norm, then rotary embedding of one head's 256 values; rope [64] as EmbedOp says. out may be x.
  void (*norm_rope)(float* out, const float* x, const float* weight, const float* rope);
  // k and v [256] of one token into its KV head's part of a block, clamped to f16's finite range.
  void (*cache_token)(uint8_t* head, int token, const float* k, const float* v);

  void (*project)(const ProjectArgs& args, int64_t panel_begin, int64_t panel_end);
  void (*expert_up)(const ExpertUpArgs& args, int64_t panel_begin, int64_t panel_end);
  void (*expert_down)(const ExpertDownArgs& args, int64_t panel_begin, int64_t panel_end);
  void (*delta_head)(const DeltaHeadArgs& args);
  void (*attend)(const AttendArgs& args);
  // The same for one row in pieces, so that threads share its blocks: attend_block gives a block's part
  // [kPartialFloats]; attend_fold takes parts in the order of blocks, several calls long, and ends with
  // `mixed`.
  void (*attend_block)(float* partial, const AttendArgs& args, int block);
  void (*attend_fold)(float* gathered, const float* partials, int n_partials, bool first, bool last,
                      const AttendArgs& args);

  // The 8 largest of n logits (a multiple of 16, at most 256; overwritten) and their renormalised softmax.
  // Ids are always distinct and in range; weights are NaN when a logit is NaN or +infinity.
  void (*top_experts)(int32_t* ids, float* weights, float* logits, int n);
  void (*sigmoid)(float* x, int n);  // in place, n a multiple of 16

  // Over n logits, any n. `largest` returns +infinity when one is NaN or +infinity.
  float (*largest)(const float* x, int n);
  double (*sum_exp)(const float* x, int n, float shift, float divisor);  // sum of e^((x - shift) / divisor)
  // Appends base + i for every x[i] >= threshold that is over -infinity; returns how many.
  int (*collect)(int32_t* ids, const float* x, int n, float threshold, int32_t base);
  // Appends i for every counts[i] that is not 0; returns how many.
  int (*collect_used)(int32_t* ids, const uint32_t* counts, int n);
  // x[i] = -infinity where bit i of mask is 0.
  void (*apply_mask)(float* x, const uint32_t* mask, int n);
};

// Only those of the processor's family are in a build: paths.h says which, and which run here.
const Kernels& avx2_kernels();
const Kernels& avx512_kernels();
const Kernels& neon_kernels();
const Kernels& dotprod_kernels();
const Kernels& i8mm_kernels();

}  // namespace orfebre::cpu
