// Every weight of the text model, by role and layer, with its shape: what a checkpoint must hold and what
// a backend is handed. Roles carry the in-memory convention, not any file's: see WeightSource.
#pragma once

#include "base/dtype.h"
#include "spec/shape.h"

#include <cstdint>
#include <string>
#include <vector>

namespace orfebre {

// Matrices are [n_out, n_in], y = W x, no biases. V vocabulary, H hidden, E experts, I expert width.
enum class MatrixRole {
  kEmbedding,     // [V, H], layer -1
  kHead,          // [V, H], layer -1
  kGdnQkv,        // [conv_channels, H]: q rows, then k rows, then v rows
  kGdnZ,          // [value_width, H]
  kGdnA,          // [value_heads, H]
  kGdnB,          // [value_heads, H]
  kGdnOut,        // [H, value_width]
  kAttnQ,         // [2 * query_width, H]: for each head 256 query rows, then 256 gate rows
  kAttnK,         // [kv_width, H]
  kAttnV,         // [kv_width, H]
  kAttnOut,       // [H, query_width]
  kRouter,        // [E, H]
  kSharedGate,    // [1, H]
  kSharedUpGate,  // [I, H]: the shared expert's gate projection
  kSharedUp,      // [I, H]
  kSharedDown,    // [H, I]
  kExpertGate,    // E matrices [I, H]
  kExpertUp,      // E matrices [I, H]
  kExpertDown,    // E matrices [H, I]
};

// All vectors are handed over as f32.
enum class VectorRole {
  kFinalNorm,  // [H], layer -1; a multiplier: 1 + w of the zero-centred norm
  kInputNorm,  // [H], multiplier 1 + w
  kPostNorm,   // [H], multiplier 1 + w
  kGdnConv,    // [conv_channels, 4], tap 3 multiplies the current token
  kGdnALog,    // [value_heads]
  kGdnDtBias,  // [value_heads]
  kGdnNorm,    // [128], plain multiplier (this norm is not zero-centred)
  kAttnQNorm,  // [256], multiplier 1 + w
  kAttnKNorm,  // [256], multiplier 1 + w
};

struct MatrixSpec {
  MatrixRole role;
  int layer;       // -1 for the embedding and the head
  int n_matrices;  // experts, or 1
  int n_out;
  int n_in;
};

struct VectorSpec {
  VectorRole role;
  int layer;  // -1 for the final norm
  int size;   // elements
};

// The whole list, in the order of the forward pass.
std::vector<MatrixSpec> matrix_specs(const ShapeInfo& shape);
std::vector<VectorSpec> vector_specs(const ShapeInfo& shape);

// Rows of a matrix, or of all its experts together.
constexpr int row_count(const MatrixSpec& spec) {
  return spec.n_matrices * spec.n_out;
}

// Whether it is one of the routed experts' three.
constexpr bool is_expert(MatrixRole role) {
  return role == MatrixRole::kExpertGate || role == MatrixRole::kExpertUp || role == MatrixRole::kExpertDown;
}

// Bytes of a matrix, or of all its experts, at `bits` a weight as AffineTensor holds them: the codes, and
// below 16 bits a scale and a bias a group.
uint64_t stored_bytes(const MatrixSpec& spec, int bits);

// A readable name for errors, progress and seeded tests: "layers.3.attn_q", "embedding".
std::string weight_name(MatrixRole role, int layer);
std::string weight_name(VectorRole role, int layer);

// Views of one tensor as the file holds it; valid as long as the memory that it was read into.
// Affine (bits 4 or 8): value = scale * code + bias, groups of 64 along n_in, code j of a row in the
// little-endian bits of 32-bit words, lowest bits first. A scale may be negative.
// Dense (bits 16 or 32): `dense_bf16` or `dense_f32` is set and the affine pointers are null.
struct AffineTensor {
  int n_matrices = 1;
  int n_out = 0;
  int n_in = 0;
  int bits = 0;                      // 4, 8, 16 (dense bf16) or 32 (dense f32)
  const uint32_t* codes = nullptr;   // [n_matrices, n_out, n_in * bits / 32]
  const bf16* scales = nullptr;      // [n_matrices, n_out, n_in / 64]
  const bf16* biases = nullptr;      // [n_matrices, n_out, n_in / 64]
  const bf16* dense_bf16 = nullptr;  // [n_matrices, n_out, n_in]
  const float* dense_f32 = nullptr;  // [n_matrices, n_out, n_in]

  bool is_dense() const { return bits >= 16; }
};

}  // namespace orfebre
