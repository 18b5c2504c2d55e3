#include "spec/weights.h"

#include "spec/weight_source.h"

#include <fmt/core.h>

namespace orfebre {
namespace {

const char* role_name(MatrixRole role) {
  switch (role) {
    case MatrixRole::kEmbedding: return "embedding";
    case MatrixRole::kHead: return "head";
    case MatrixRole::kGdnQkv: return "gdn_qkv";
    case MatrixRole::kGdnZ: return "gdn_z";
    case MatrixRole::kGdnA: return "gdn_a";
    case MatrixRole::kGdnB: return "gdn_b";
    case MatrixRole::kGdnOut: return "gdn_out";
    case MatrixRole::kAttnQ: return "attn_q";
    case MatrixRole::kAttnK: return "attn_k";
    case MatrixRole::kAttnV: return "attn_v";
    case MatrixRole::kAttnOut: return "attn_out";
    case MatrixRole::kRouter: return "router";
    case MatrixRole::kSharedGate: return "shared_gate";
    case MatrixRole::kSharedUpGate: return "shared_up_gate";
    case MatrixRole::kSharedUp: return "shared_up";
    case MatrixRole::kSharedDown: return "shared_down";
    case MatrixRole::kExpertGate: return "expert_gate";
    case MatrixRole::kExpertUp: return "expert_up";
    case MatrixRole::kExpertDown: return "expert_down";
  }
  return "unknown";
}

const char* role_name(VectorRole role) {
  switch (role) {
    case VectorRole::kFinalNorm: return "final_norm";
    case VectorRole::kInputNorm: return "input_norm";
    case VectorRole::kPostNorm: return "post_norm";
    case VectorRole::kGdnConv: return "gdn_conv";
    case VectorRole::kGdnALog: return "gdn_a_log";
    case VectorRole::kGdnDtBias: return "gdn_dt_bias";
    case VectorRole::kGdnNorm: return "gdn_norm";
    case VectorRole::kAttnQNorm: return "attn_q_norm";
    case VectorRole::kAttnKNorm: return "attn_k_norm";
  }
  return "unknown";
}

std::string full_name(const char* role, int layer) {
  return layer < 0 ? std::string(role) : fmt::format("layers.{}.{}", layer, role);
}

void add_mixer(std::vector<MatrixSpec>& specs, const ShapeInfo& s, int layer) {
  if (s.is_attention(layer)) {
    specs.push_back({MatrixRole::kAttnQ, layer, 1, 2 * s.query_width(), s.hidden});
    specs.push_back({MatrixRole::kAttnK, layer, 1, s.kv_width(), s.hidden});
    specs.push_back({MatrixRole::kAttnV, layer, 1, s.kv_width(), s.hidden});
    specs.push_back({MatrixRole::kAttnOut, layer, 1, s.hidden, s.query_width()});
  } else {
    specs.push_back({MatrixRole::kGdnQkv, layer, 1, s.conv_channels(), s.hidden});
    specs.push_back({MatrixRole::kGdnZ, layer, 1, s.value_width(), s.hidden});
    specs.push_back({MatrixRole::kGdnA, layer, 1, s.value_heads, s.hidden});
    specs.push_back({MatrixRole::kGdnB, layer, 1, s.value_heads, s.hidden});
    specs.push_back({MatrixRole::kGdnOut, layer, 1, s.hidden, s.value_width()});
  }
}

void add_moe(std::vector<MatrixSpec>& specs, const ShapeInfo& s, int layer) {
  specs.push_back({MatrixRole::kRouter, layer, 1, s.experts, s.hidden});
  specs.push_back({MatrixRole::kSharedGate, layer, 1, 1, s.hidden});
  specs.push_back({MatrixRole::kSharedUpGate, layer, 1, s.expert_width, s.hidden});
  specs.push_back({MatrixRole::kSharedUp, layer, 1, s.expert_width, s.hidden});
  specs.push_back({MatrixRole::kSharedDown, layer, 1, s.hidden, s.expert_width});
  specs.push_back({MatrixRole::kExpertGate, layer, s.experts, s.expert_width, s.hidden});
  specs.push_back({MatrixRole::kExpertUp, layer, s.experts, s.expert_width, s.hidden});
  specs.push_back({MatrixRole::kExpertDown, layer, s.experts, s.hidden, s.expert_width});
}

}  // namespace

std::vector<MatrixSpec> matrix_specs(const ShapeInfo& shape) {
  std::vector<MatrixSpec> specs;
  specs.push_back({MatrixRole::kEmbedding, -1, 1, shape.vocab, shape.hidden});
  for (int layer = 0; layer < shape.layers; ++layer) {
    add_mixer(specs, shape, layer);
    add_moe(specs, shape, layer);
  }
  specs.push_back({MatrixRole::kHead, -1, 1, shape.vocab, shape.hidden});
  return specs;
}

std::vector<VectorSpec> vector_specs(const ShapeInfo& s) {
  std::vector<VectorSpec> specs;
  for (int layer = 0; layer < s.layers; ++layer) {
    specs.push_back({VectorRole::kInputNorm, layer, s.hidden});
    if (s.is_attention(layer)) {
      specs.push_back({VectorRole::kAttnQNorm, layer, s.head_dim});
      specs.push_back({VectorRole::kAttnKNorm, layer, s.head_dim});
    } else {
      specs.push_back({VectorRole::kGdnConv, layer, s.conv_channels() * s.conv_taps});
      specs.push_back({VectorRole::kGdnALog, layer, s.value_heads});
      specs.push_back({VectorRole::kGdnDtBias, layer, s.value_heads});
      specs.push_back({VectorRole::kGdnNorm, layer, s.delta_head_dim});
    }
    specs.push_back({VectorRole::kPostNorm, layer, s.hidden});
  }
  specs.push_back({VectorRole::kFinalNorm, -1, s.hidden});
  return specs;
}

uint64_t stored_bytes(const MatrixSpec& spec, int bits) {
  const uint64_t weights = static_cast<uint64_t>(spec.n_matrices) * static_cast<uint64_t>(spec.n_out) *
                           static_cast<uint64_t>(spec.n_in);
  const uint64_t n_groups = bits < 16 ? weights / CommonShape::kQuantGroup : 0;
  return weights * static_cast<uint64_t>(bits) / 8 + n_groups * 2 * sizeof(bf16);
}

StoredMatrix read_matrix(WeightSource& source, const MatrixSpec& spec) {
  StoredMatrix stored;
  stored.view = source.read_rows(stored.memory, spec, 0, row_count(spec));
  stored.view.n_matrices = spec.n_matrices;
  stored.view.n_out = spec.n_out;
  return stored;
}

std::string weight_name(MatrixRole role, int layer) {
  return full_name(role_name(role), layer);
}

std::string weight_name(VectorRole role, int layer) {
  return full_name(role_name(role), layer);
}

}  // namespace orfebre
