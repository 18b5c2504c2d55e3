// The block ops' parameters: plain structs, included by C++, CUDA and Metal alike. They hold only pointers
// and constants; everything that varies from step to step is behind `step`. R is the step's number of rows.
//
// Activations between ops are f32, row-major. What an op rounds to inside is its backend's own and stands
// in docs/numerics.md. Pointers are device pointers of the backend that runs the op.
#pragma once

#include "backend/pick_params.h"
#include "spec/step_header.h"

namespace orfebre {

// A weight matrix, or `n_matrices` of them (experts), in the backend's own layout.
struct Matrix {
  const ORFEBRE_GLOBAL void* codes;   // the layout is the backend's: see its repack source
  const ORFEBRE_GLOBAL void* scales;  // null where the layout interleaves them with the codes
  const ORFEBRE_GLOBAL void* biases;
  int32_t n_matrices;
  int32_t n_out;
  int32_t n_in;
  int32_t bits;  // 4, 8, 16 (bf16) or 32 (f32)
};

// x = embedding[token], and the step's rotary table.
struct EmbedOp {
  const ORFEBRE_GLOBAL StepHeader* step;
  const ORFEBRE_GLOBAL int32_t* picked;  // [kMaxLanes] last picked token of each lane
  Matrix embedding;                      // [vocab, hidden]
  ORFEBRE_GLOBAL float* residual;        // out [R, hidden]
  ORFEBRE_GLOBAL float* rope;  // out [R, 64]: 32 cosines, then 32 sines of position * theta^(-2i/64)
};

// u = norm(x) * weight; the four in-projections of a Gated DeltaNet layer.
struct GdnProjectOp {
  const ORFEBRE_GLOBAL StepHeader* step;
  const ORFEBRE_GLOBAL float* residual;  // [R, hidden]
  const ORFEBRE_GLOBAL float* norm;      // [hidden]
  Matrix qkv, z, a, b;
  ORFEBRE_GLOBAL float* qkv_out;  // out [R, conv_channels], before the convolution
  ORFEBRE_GLOBAL float* z_out;    // out [R, value_width]
  ORFEBRE_GLOBAL float* a_out;    // out [R, value_heads]
  ORFEBRE_GLOBAL float* b_out;    // out [R, value_heads]
};

// Convolution and SiLU, l2 norm of q and k, gates, the delta rule, the gated norm.
// A state slot holds, for this layer, delta [value_heads, 128 (key), 128 (value)] and conv [3, conv_channels]
// (the last three rows of qkv before the convolution, oldest first), both f32, in the backend's own order.
struct GdnMixOp {
  const ORFEBRE_GLOBAL StepHeader* step;
  const ORFEBRE_GLOBAL float* qkv;          // [R, conv_channels]
  const ORFEBRE_GLOBAL float* z;            // [R, value_width]
  const ORFEBRE_GLOBAL float* a;            // [R, value_heads]
  const ORFEBRE_GLOBAL float* b;            // [R, value_heads]
  const ORFEBRE_GLOBAL float* conv_weight;  // [conv_channels, 4]
  const ORFEBRE_GLOBAL float* a_log;        // [value_heads]
  const ORFEBRE_GLOBAL float* dt_bias;      // [value_heads]
  const ORFEBRE_GLOBAL float* norm;         // [128]
  ORFEBRE_GLOBAL float* delta_state;        // this layer's part of slot 0
  ORFEBRE_GLOBAL float* conv_state;         // this layer's part of slot 0
  uint64_t slot_stride;                     // floats from one slot to the next, for both
  ORFEBRE_GLOBAL float* mixed;              // out [R, value_width]
};

// x += W mixed.
struct GdnOutputOp {
  const ORFEBRE_GLOBAL StepHeader* step;
  const ORFEBRE_GLOBAL float* mixed;  // [R, value_width]
  Matrix out;                         // [hidden, value_width]
  ORFEBRE_GLOBAL float* residual;     // in, out [R, hidden]
};

// u = norm(x) * weight; q, gate, k, v; q and k norm; rotary embedding; k and v into the cache.
struct AttnProjectOp {
  const ORFEBRE_GLOBAL StepHeader* step;
  const ORFEBRE_GLOBAL float* residual;  // [R, hidden]
  const ORFEBRE_GLOBAL float* norm;      // [hidden]
  const ORFEBRE_GLOBAL float* rope;      // [R, 64]
  Matrix q_gate, k, v;
  const ORFEBRE_GLOBAL float* q_norm;  // [256]
  const ORFEBRE_GLOBAL float* k_norm;  // [256]
  ORFEBRE_GLOBAL float* q_out;         // out [R, query_heads, 256], after norm and rotary embedding
  ORFEBRE_GLOBAL float* gate_out;      // out [R, query_heads, 256], before the sigmoid
  ORFEBRE_GLOBAL void* kv_cache;       // in, out: this layer's blocks, [n_kv_blocks, kv_block_bytes]
};

// mixed = softmax(q k / 16) v * sigmoid(gate), causal over the sequence's blocks.
struct AttnMixOp {
  const ORFEBRE_GLOBAL StepHeader* step;
  const ORFEBRE_GLOBAL float* q;        // [R, query_heads, 256]
  const ORFEBRE_GLOBAL float* gate;     // [R, query_heads, 256]
  const ORFEBRE_GLOBAL void* kv_cache;  // this layer's blocks
  ORFEBRE_GLOBAL float* mixed;          // out [R, query_width]
};

// x += W mixed.
struct AttnOutputOp {
  const ORFEBRE_GLOBAL StepHeader* step;
  const ORFEBRE_GLOBAL float* mixed;  // [R, query_width]
  Matrix out;                         // [hidden, query_width]
  ORFEBRE_GLOBAL float* residual;     // in, out [R, hidden]
};

// u = norm(x) * weight; softmax over all experts; the 8 largest, renormalised; the shared expert's gate.
// Ties go to the lower expert. Ids ascend by probability rank: slot 0 is the largest.
struct RouteOp {
  const ORFEBRE_GLOBAL StepHeader* step;
  const ORFEBRE_GLOBAL float* residual;  // [R, hidden]
  const ORFEBRE_GLOBAL float* norm;      // [hidden]
  Matrix router;                         // [experts, hidden]
  Matrix shared_gate;                    // [1, hidden]
  ORFEBRE_GLOBAL float* normed;          // out [R, hidden]
  ORFEBRE_GLOBAL int32_t* expert_ids;    // out [R, 8]
  ORFEBRE_GLOBAL float* expert_weights;  // out [R, 8], sum 1
  ORFEBRE_GLOBAL float* shared_weight;   // out [R], sigmoid of the gate
};

// silu(G u) * (U u) for the 8 routed experts and, in slot 8, the shared one.
struct ExpertsUpOp {
  const ORFEBRE_GLOBAL StepHeader* step;
  const ORFEBRE_GLOBAL float* normed;        // [R, hidden]
  const ORFEBRE_GLOBAL int32_t* expert_ids;  // [R, 8]
  Matrix gate, up;                           // experts x [expert_width, hidden]
  Matrix shared_gate, shared_up;             // [expert_width, hidden]
  ORFEBRE_GLOBAL float* activated;           // out [R, 9, expert_width]
};

// x += sum over slots of weight * D activated + shared_weight * D_shared activated[8].
struct ExpertsDownOp {
  const ORFEBRE_GLOBAL StepHeader* step;
  const ORFEBRE_GLOBAL float* activated;       // [R, 9, expert_width]
  const ORFEBRE_GLOBAL int32_t* expert_ids;    // [R, 8]
  const ORFEBRE_GLOBAL float* expert_weights;  // [R, 8]
  const ORFEBRE_GLOBAL float* shared_weight;   // [R]
  Matrix down;                                 // experts x [hidden, expert_width]
  Matrix shared_down;                          // [hidden, expert_width]
  ORFEBRE_GLOBAL float* residual;              // in, out [R, hidden]
};

// logits = W (norm(x) * weight) for the rows that need them.
struct HeadOp {
  const ORFEBRE_GLOBAL StepHeader* step;
  const ORFEBRE_GLOBAL float* residual;  // [R, hidden]
  const ORFEBRE_GLOBAL float* norm;      // [hidden]
  Matrix head;                           // [vocab, hidden]
  ORFEBRE_GLOBAL float* logits;          // out [n_logit_rows, vocab]
};

}  // namespace orfebre
