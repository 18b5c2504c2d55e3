#include "support/random_checkpoint.h"

#include "support/random_weights.h"
#include "support/seeded_formula.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <span>
#include <stdexcept>
#include <vector>

namespace orfebre::test {
namespace {

struct FileTensor {
  std::string name;
  const char* dtype;
  std::vector<int> dims;
  std::string bytes;
};

template <class Value>
std::string bytes_of(const Value* values, size_t count) {
  return {reinterpret_cast<const char*>(values), count * sizeof(Value)};
}

std::string bf16_bytes(std::span<const float> values) {
  std::vector<bf16> rounded(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    rounded[i] = to_bf16(values[i]);
  }
  return bytes_of(rounded.data(), rounded.size());
}

void write_file(const std::string& path, std::initializer_list<std::string_view> parts) {
  std::ofstream out(path, std::ios::binary);
  for (const std::string_view part : parts) {
    out.write(part.data(), static_cast<std::streamsize>(part.size()));
  }
  if (!out) {
    throw std::runtime_error("cannot write " + path);
  }
}

void write_safetensors(const std::string& path, const std::vector<FileTensor>& tensors) {
  std::string header = "{";
  std::string data;
  for (const FileTensor& tensor : tensors) {
    header += fmt::format("{}\"{}\":{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}",
                          header.size() > 1 ? "," : "", tensor.name, tensor.dtype,
                          fmt::join(tensor.dims, ","), data.size(), data.size() + tensor.bytes.size());
    data += tensor.bytes;
  }
  header += "}";
  const uint64_t header_bytes = header.size();
  write_file(path, {bytes_of(&header_bytes, 1), header, data});
}

const char* module_in_layer(MatrixRole role) {
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
  return nullptr;
}

const char* tensor_in_layer(VectorRole role) {
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
  return nullptr;
}

// `prefix` is what stands before "layers", "embed_tokens" and "norm".
std::string vector_name(const std::string& prefix, const VectorSpec& spec) {
  return spec.role == VectorRole::kFinalNorm
             ? prefix + "norm.weight"
             : fmt::format("{}layers.{}.{}", prefix, spec.layer, tensor_in_layer(spec.role));
}

std::string matrix_module(const std::string& prefix, const std::string& head, const MatrixSpec& spec) {
  if (spec.role == MatrixRole::kHead) {
    return head;
  }
  return spec.role == MatrixRole::kEmbedding
             ? prefix + "embed_tokens"
             : fmt::format("{}layers.{}.{}", prefix, spec.layer, module_in_layer(spec.role));
}

std::vector<int> dims_of(const MatrixSpec& spec, int columns) {
  const bool experts = spec.role == MatrixRole::kExpertGate || spec.role == MatrixRole::kExpertUp ||
                       spec.role == MatrixRole::kExpertDown;
  return experts ? std::vector<int>{spec.n_matrices, spec.n_out, columns}
                 : std::vector<int>{spec.n_out, columns};
}

bool is_zero_centred_norm(VectorRole role) {
  return role == VectorRole::kInputNorm || role == VectorRole::kPostNorm || role == VectorRole::kFinalNorm ||
         role == VectorRole::kAttnQNorm || role == VectorRole::kAttnKNorm;
}

std::string text_config(const ShapeInfo& s) {
  return fmt::format(
      R"({{"model_type": "qwen3_5_moe_text", "vocab_size": {}, "hidden_size": {}, "num_hidden_layers": {},
    "full_attention_interval": {}, "num_attention_heads": {}, "num_key_value_heads": {}, "head_dim": {},
    "attention_bias": false, "attn_output_gate": true, "hidden_act": "silu", "rms_norm_eps": 1e-06,
    "max_position_embeddings": 262144, "num_experts": {}, "num_experts_per_tok": {}, "moe_intermediate_size": {},
    "shared_expert_intermediate_size": {}, "linear_num_key_heads": {}, "linear_num_value_heads": {},
    "linear_key_head_dim": {}, "linear_value_head_dim": {}, "linear_conv_kernel_dim": {},
    "mamba_ssm_dtype": "float32", "tie_word_embeddings": false, "eos_token_id": 0,
    "rope_parameters": {{"rope_type": "default", "rope_theta": 10000000, "partial_rotary_factor": 0.25,
      "mrope_interleaved": true, "mrope_section": [11, 11, 10]}}}})",
      s.vocab, s.hidden, s.layers, CommonShape::kFullAttentionInterval, s.query_heads, s.kv_heads, s.head_dim,
      s.experts, s.active_experts, s.expert_width, s.expert_width, s.key_heads, s.value_heads,
      s.delta_head_dim, s.delta_head_dim, s.conv_taps);
}

void write_config(const std::string& directory, const ShapeInfo& shape, const std::string& quantization) {
  write_file(directory + "/config.json",
             {R"({"architectures": ["Qwen3_5MoeForConditionalGeneration"], "model_type": "qwen3_5_moe",
  "tie_word_embeddings": false, )",
              quantization, R"("text_config": )", text_config(shape), "}\n"});
}

// float32 values of an affine tensor.
std::vector<float> dequantised(const AffineTensor& t) {
  const size_t size =
      static_cast<size_t>(t.n_matrices) * static_cast<size_t>(t.n_out) * static_cast<size_t>(t.n_in);
  const size_t per_word = static_cast<size_t>(32 / t.bits);
  std::vector<float> values(size);
  for (size_t i = 0; i < size; ++i) {
    const uint32_t code =
        (t.codes[i / per_word] >> (static_cast<size_t>(t.bits) * (i % per_word))) & ((1u << t.bits) - 1u);
    values[i] = to_f32(t.scales[i / 64]) * static_cast<float>(code) + to_f32(t.biases[i / 64]);
  }
  return values;
}

// bf16 bytes of a Hugging Face matrix: off every 4-bit grid.
std::string blurred_bytes(RandomWeights& weights, uint64_t seed, const MatrixSpec& spec) {
  std::vector<float> values = dequantised(read_matrix(weights, spec).view);
  weights.release_rows(spec, 0, row_count(spec));
  const uint64_t key = key_of(seed, weight_name(spec.role, spec.layer), "blur");
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] *= 0.9f + 0.2f * unit(key, i);
  }
  return bf16_bytes(values);
}

// Rows of gate and up of every expert in turn: [experts, 2 * width, hidden].
std::string fused(const std::string& gate, const std::string& up, int experts) {
  const size_t part = gate.size() / static_cast<size_t>(experts);
  std::string both;
  for (size_t at = 0; at < gate.size(); at += part) {
    both.append(gate, at, part).append(up, at, part);
  }
  return both;
}

}  // namespace

void write_mlx_checkpoint(const std::string& directory, ShapeId shape) {
  RandomWeights weights(shape);
  const std::string prefix = "language_model.model.";
  std::vector<FileTensor> tensors;
  std::string overrides;
  for (const MatrixSpec& spec : matrix_specs(weights.shape())) {
    const StoredMatrix stored = read_matrix(weights, spec);
    const AffineTensor& t = stored.view;
    const std::string module = matrix_module(prefix, "language_model.lm_head", spec);
    const size_t rows = static_cast<size_t>(spec.n_matrices) * static_cast<size_t>(spec.n_out);
    const int words = spec.n_in * t.bits / 32;
    const int groups = spec.n_in / 64;
    tensors.push_back({module + ".weight", "U32", dims_of(spec, words), bytes_of(t.codes, rows * words)});
    tensors.push_back({module + ".scales", "BF16", dims_of(spec, groups), bytes_of(t.scales, rows * groups)});
    tensors.push_back({module + ".biases", "BF16", dims_of(spec, groups), bytes_of(t.biases, rows * groups)});
    weights.release_rows(spec, 0, row_count(spec));
    if (t.bits == 8) {
      overrides += fmt::format(R"(, "{}": {{"group_size": 64, "bits": 8}})", module);
    }
  }
  for (const VectorSpec& spec : vector_specs(weights.shape())) {
    const std::vector<float> values = weights.read_vector(spec);
    const bool conv = spec.role == VectorRole::kGdnConv;
    tensors.push_back({vector_name(prefix, spec), "BF16",
                       conv ? std::vector<int>{spec.size / 4, 4, 1} : std::vector<int>{spec.size},
                       bf16_bytes(values)});
  }
  write_safetensors(directory + "/model.safetensors", tensors);
  write_config(directory, weights.shape(),
               R"("quantization": {"group_size": 64, "bits": 4, "mode": "affine")" + overrides + "}, ");
}

void write_hf_checkpoint(const std::string& directory, ShapeId shape) {
  RandomWeights weights(shape);
  const uint64_t seed = shape == ShapeId::kProbe ? kProbeSeed : kDemoSeed;
  const std::string prefix = "model.language_model.";
  std::vector<FileTensor> tensors;
  std::string expert_gate;
  for (const MatrixSpec& spec : matrix_specs(weights.shape())) {
    std::string bytes = blurred_bytes(weights, seed, spec);
    const std::string experts = fmt::format("{}layers.{}.mlp.experts.", prefix, spec.layer);
    if (spec.role == MatrixRole::kExpertGate) {
      expert_gate = std::move(bytes);
    } else if (spec.role == MatrixRole::kExpertUp) {
      tensors.push_back({experts + "gate_up_proj",
                         "BF16",
                         {spec.n_matrices, 2 * spec.n_out, spec.n_in},
                         fused(expert_gate, bytes, spec.n_matrices)});
    } else if (spec.role == MatrixRole::kExpertDown) {
      tensors.push_back({experts + "down_proj", "BF16", dims_of(spec, spec.n_in), std::move(bytes)});
    } else {
      tensors.push_back({matrix_module(prefix, "lm_head", spec) + ".weight", "BF16", dims_of(spec, spec.n_in),
                         std::move(bytes)});
    }
  }
  for (const VectorSpec& spec : vector_specs(weights.shape())) {
    std::vector<float> values = weights.read_vector(spec);
    if (is_zero_centred_norm(spec.role)) {
      for (float& value : values) {
        value = std::nearbyint(value * 128.0f) / 128.0f - 1.0f;
      }
    }
    const bool conv = spec.role == VectorRole::kGdnConv;
    tensors.push_back({vector_name(prefix, spec), "BF16",
                       conv ? std::vector<int>{spec.size / 4, 1, 4} : std::vector<int>{spec.size},
                       bf16_bytes(values)});
  }
  write_safetensors(directory + "/model.safetensors", tensors);
  write_config(directory, weights.shape(), "");
}

}  // namespace orfebre::test
