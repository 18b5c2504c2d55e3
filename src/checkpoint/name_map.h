// What the weights of spec/weights.h are called in checkpoint files, and which convention a checkpoint
// follows.
//
// Two conventions of values, told apart by the convolution's shape alone (never by which other tensors are
// there):
//   converted (MLX)   conv1d [channels, 4, 1]; the zero-centred norms are stored as 1 + w
//   Hugging Face      conv1d [channels, 1, 4]; the zero-centred norms are stored as w
// The names of modules vary by converter, independently of that: see Naming.
#pragma once

#include "checkpoint/safetensors.h"
#include "spec/weights.h"

#include <string>

namespace orfebre {

struct Naming {
  std::string text_prefix;     // "language_model.model.", "model.language_model.", "model." or ""
  std::string head_module;     // "language_model.lm_head" or "lm_head"
  bool fused_experts = false;  // mlp.experts.gate_up_proj and down_proj instead of mlp.switch_mlp.*
};

struct CheckpointConvention {
  Naming naming;
  bool converted = false;
};

// The names that MLX converters write, which is what this program writes too.
Naming mlx_naming();

// Throws Error(kBadCheckpoint) when the files hold no text model of this family.
CheckpointConvention detect_convention(const SafetensorsSet& files, const ShapeInfo& shape);

// The module of a matrix, "language_model.model.layers.3.self_attn.q_proj": quantised, its tensors are
// MODULE.weight, MODULE.scales and MODULE.biases.
std::string module_path(const Naming& naming, MatrixRole role, int layer);
// The tensor of an unquantised matrix: MODULE.weight, save for fused experts, which have no ".weight".
std::string dense_tensor_name(const Naming& naming, MatrixRole role, int layer);
std::string vector_tensor_name(const Naming& naming, VectorRole role, int layer);

// Whether the norm is zero-centred, so that Hugging Face files store its multiplier less 1.
bool is_zero_centred(VectorRole role);

}  // namespace orfebre
