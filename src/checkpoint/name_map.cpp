#include "checkpoint/name_map.h"

#include "base/error.h"

namespace orfebre {
namespace {

// Relative to a layer, experts aside.
const char* layer_module(MatrixRole role) {
  switch (role) {
    case MatrixRole::kGdnQkv: return "linear_attn.in_proj_qkv";
    case MatrixRole::kGdnZ: return "linear_attn.in_proj_z";
    case MatrixRole::kGdnA: return "linear_attn.in_proj_a";
    case MatrixRole::kGdnB: return "linear_attn.in_proj_b";
    case MatrixRole::kGdnOut: return "linear_attn.out_proj";
    case MatrixRole::kAttnQ: return "self_attn.q_proj";
    case MatrixRole::kAttnK: return "self_attn.k_proj";
    case MatrixRole::kAttnV: return "self_attn.v_proj";
    case MatrixRole::kAttnOut: return "self_attn.o_proj";
    case MatrixRole::kRouter: return "mlp.gate";
    case MatrixRole::kSharedGate: return "mlp.shared_expert_gate";
    case MatrixRole::kSharedUpGate: return "mlp.shared_expert.gate_proj";
    case MatrixRole::kSharedUp: return "mlp.shared_expert.up_proj";
    case MatrixRole::kSharedDown: return "mlp.shared_expert.down_proj";
    case MatrixRole::kExpertGate: return "mlp.switch_mlp.gate_proj";
    case MatrixRole::kExpertUp: return "mlp.switch_mlp.up_proj";
    case MatrixRole::kExpertDown: return "mlp.switch_mlp.down_proj";
    case MatrixRole::kEmbedding:
    case MatrixRole::kHead: break;
  }
  return "";
}

const char* layer_tensor(VectorRole role) {
  switch (role) {
    case VectorRole::kInputNorm: return "input_layernorm.weight";
    case VectorRole::kPostNorm: return "post_attention_layernorm.weight";
    case VectorRole::kGdnConv: return "linear_attn.conv1d.weight";
    case VectorRole::kGdnALog: return "linear_attn.A_log";
    case VectorRole::kGdnDtBias: return "linear_attn.dt_bias";
    case VectorRole::kGdnNorm: return "linear_attn.norm.weight";
    case VectorRole::kAttnQNorm: return "self_attn.q_norm.weight";
    case VectorRole::kAttnKNorm: return "self_attn.k_norm.weight";
    case VectorRole::kFinalNorm: break;
  }
  return "";
}

std::string layer_prefix(const Naming& naming, int layer) {
  return fmt::format("{}layers.{}.", naming.text_prefix, layer);
}

std::string find_text_prefix(const SafetensorsSet& files) {
  for (const char* prefix :
       {"language_model.model.", "model.language_model.", "model.", "language_model.", ""}) {
    if (files.find(std::string(prefix) + "embed_tokens.weight") != nullptr) {
      return prefix;
    }
  }
  fail(ErrorKind::kBadCheckpoint,
       "{}: expected the text model's embedding, language_model.model.embed_tokens.weight (MLX) or "
       "model.language_model.embed_tokens.weight (Hugging Face), found neither",
       files.directory());
}

}  // namespace

Naming mlx_naming() {
  return {"language_model.model.", "language_model.lm_head", false};
}

CheckpointConvention detect_convention(const SafetensorsSet& files, const ShapeInfo& shape) {
  CheckpointConvention found;
  found.naming.text_prefix = find_text_prefix(files);
  found.naming.head_module = "lm_head";
  if (files.find("language_model.lm_head.weight") != nullptr) {
    found.naming.head_module = "language_model.lm_head";
  }
  found.naming.fused_experts =
      files.find(layer_prefix(found.naming, 0) + "mlp.experts.gate_up_proj") != nullptr;

  const std::string conv_name = vector_tensor_name(found.naming, VectorRole::kGdnConv, 0);
  const TensorInfo* conv = files.find(conv_name);
  if (conv == nullptr) {
    fail(ErrorKind::kBadCheckpoint, "{}: tensor \"{}\" is missing", files.directory(), conv_name);
  }
  const int64_t channels = shape.conv_channels();
  const int64_t taps = shape.conv_taps;
  found.converted = conv->shape == std::vector<int64_t>{channels, taps, 1};
  if (!found.converted && conv->shape != std::vector<int64_t>{channels, 1, taps}) {
    fail(ErrorKind::kBadCheckpoint, "{}: tensor \"{}\": expected shape [{}, {}, 1] or [{}, 1, {}], found {}",
         files.directory(), conv_name, channels, taps, channels, taps, shape_text(conv->shape));
  }
  return found;
}

std::string module_path(const Naming& naming, MatrixRole role, int layer) {
  if (role == MatrixRole::kEmbedding) {
    return naming.text_prefix + "embed_tokens";
  }
  if (role == MatrixRole::kHead) {
    return naming.head_module;
  }
  if (naming.fused_experts && is_expert(role)) {
    const char* tensor =
        role == MatrixRole::kExpertDown ? "mlp.experts.down_proj" : "mlp.experts.gate_up_proj";
    return layer_prefix(naming, layer) + tensor;
  }
  return layer_prefix(naming, layer) + layer_module(role);
}

std::string dense_tensor_name(const Naming& naming, MatrixRole role, int layer) {
  const bool has_suffix = !(naming.fused_experts && is_expert(role));
  return module_path(naming, role, layer) + (has_suffix ? ".weight" : "");
}

std::string vector_tensor_name(const Naming& naming, VectorRole role, int layer) {
  if (role == VectorRole::kFinalNorm) {
    return naming.text_prefix + "norm.weight";
  }
  return layer_prefix(naming, layer) + layer_tensor(role);
}

bool is_zero_centred(VectorRole role) {
  switch (role) {
    case VectorRole::kFinalNorm:
    case VectorRole::kInputNorm:
    case VectorRole::kPostNorm:
    case VectorRole::kAttnQNorm:
    case VectorRole::kAttnKNorm: return true;
    case VectorRole::kGdnConv:
    case VectorRole::kGdnALog:
    case VectorRole::kGdnDtBias:
    case VectorRole::kGdnNorm: break;
  }
  return false;
}

}  // namespace orfebre
