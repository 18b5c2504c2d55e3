// The model as data: the shapes that this engine runs, each a set of compile-time constants for
// kernels to be templates over, and ShapeInfo, the same numbers at run time for the host code.
// Source of the numbers: the checkpoint's config.json (docs/model.md).
#pragma once

#include <array>
#include <string_view>

namespace orfebre {

// What never differs between the shapes; kernels are specialised on these.
struct CommonShape {
  static constexpr int kFullAttentionInterval =
      4;  // layers 3, 7, 11, ... attend, the others are Gated DeltaNet
  static constexpr int kQueryHeads = 16;
  static constexpr int kKvHeads = 2;  // query head h reads KV head h / 8
  static constexpr int kHeadDim = 256;
  static constexpr int kRotaryDims = 64;  // the first 64 of 256; pairs are (i, i + 32)
  static constexpr int kDeltaHeadDim = 128;
  static constexpr int kConvTaps = 4;  // the last tap multiplies the current token
  static constexpr int kActiveExperts = 8;
  static constexpr int kQuantGroup = 64;
  static constexpr double kRopeTheta = 1e7;
  static constexpr float kNormEps = 1e-6f;
};

// Qwen3.6-35B-A3B and everything fine-tuned from it.
struct Qwen36 : CommonShape {
  static constexpr std::string_view kName = "Qwen3.6-35B-A3B";
  static constexpr int kHidden = 2048;
  static constexpr int kLayers = 40;
  static constexpr int kKeyHeads = 16;
  static constexpr int kValueHeads = 32;  // value head h uses key head h / 2
  static constexpr int kExperts = 256;
  static constexpr int kExpertWidth = 512;  // the shared expert has the same width
  static constexpr int kVocab = 248320;
  static constexpr int kMaxContext = 262144;
};

// The small trained model that ships with the program.
struct Demo : CommonShape {
  static constexpr std::string_view kName = "Orfebre demo";
  static constexpr int kHidden = 256;
  static constexpr int kLayers = 8;
  static constexpr int kKeyHeads = 2;
  static constexpr int kValueHeads = 4;
  static constexpr int kExperts = 16;
  static constexpr int kExpertWidth = 128;
  static constexpr int kVocab = 4096;
  static constexpr int kMaxContext = 8192;
};

// Tests only: the real heads over a small hidden size; every tensor random.
struct Probe : CommonShape {
  static constexpr std::string_view kName = "Orfebre probe";
  static constexpr int kHidden = 512;
  static constexpr int kLayers = 4;
  static constexpr int kKeyHeads = 16;
  static constexpr int kValueHeads = 32;
  static constexpr int kExperts = 64;
  static constexpr int kExpertWidth = 256;
  static constexpr int kVocab = 512;
  static constexpr int kMaxContext = 8192;
};

// Tests only: the real width with four layers, the smallest number that has both kinds.
struct Slice : Qwen36 {
  static constexpr std::string_view kName = "Orfebre slice";
  static constexpr int kLayers = 4;
  static constexpr int kMaxContext = 8192;
};

// A shape's numbers at run time. `describe<Shape>()` makes one; compare by `id`.
enum class ShapeId { kQwen36, kDemo, kProbe, kSlice };

struct ShapeInfo {
  ShapeId id;
  std::string_view name;
  int hidden;
  int layers;
  int query_heads;
  int kv_heads;
  int head_dim;
  int rotary_dims;
  int key_heads;
  int value_heads;
  int delta_head_dim;
  int conv_taps;
  int experts;
  int active_experts;
  int expert_width;
  int vocab;
  int max_context;

  constexpr bool is_attention(int layer) const {
    return layer % CommonShape::kFullAttentionInterval == CommonShape::kFullAttentionInterval - 1;
  }
  constexpr int attention_layers() const { return layers / CommonShape::kFullAttentionInterval; }
  constexpr int delta_layers() const { return layers - attention_layers(); }
  // Widths of the DeltaNet projections: q and k of all key heads, v (and z) of all value heads.
  constexpr int key_width() const { return key_heads * delta_head_dim; }
  constexpr int value_width() const { return value_heads * delta_head_dim; }
  constexpr int conv_channels() const { return 2 * key_width() + value_width(); }
  constexpr int query_width() const { return query_heads * head_dim; }
  constexpr int kv_width() const { return kv_heads * head_dim; }
};

template <class Shape>
constexpr ShapeId shape_id();
template <>
constexpr ShapeId shape_id<Qwen36>() {
  return ShapeId::kQwen36;
}
template <>
constexpr ShapeId shape_id<Demo>() {
  return ShapeId::kDemo;
}
template <>
constexpr ShapeId shape_id<Probe>() {
  return ShapeId::kProbe;
}
template <>
constexpr ShapeId shape_id<Slice>() {
  return ShapeId::kSlice;
}

template <class Shape>
constexpr ShapeInfo describe() {
  return {.id = shape_id<Shape>(),
          .name = Shape::kName,
          .hidden = Shape::kHidden,
          .layers = Shape::kLayers,
          .query_heads = Shape::kQueryHeads,
          .kv_heads = Shape::kKvHeads,
          .head_dim = Shape::kHeadDim,
          .rotary_dims = Shape::kRotaryDims,
          .key_heads = Shape::kKeyHeads,
          .value_heads = Shape::kValueHeads,
          .delta_head_dim = Shape::kDeltaHeadDim,
          .conv_taps = Shape::kConvTaps,
          .experts = Shape::kExperts,
          .active_experts = Shape::kActiveExperts,
          .expert_width = Shape::kExpertWidth,
          .vocab = Shape::kVocab,
          .max_context = Shape::kMaxContext};
}

inline constexpr std::array<ShapeInfo, 4> kShapes = {describe<Qwen36>(), describe<Demo>(), describe<Probe>(),
                                                     describe<Slice>()};

// Calls `action.template operator()<Shape>()` with the shape that `id` names: the one place where a
// run-time shape becomes a template argument.
template <class Action>
decltype(auto) with_shape(ShapeId id, Action&& action) {
  switch (id) {
    case ShapeId::kQwen36: return action.template operator()<Qwen36>();
    case ShapeId::kDemo: return action.template operator()<Demo>();
    case ShapeId::kProbe: return action.template operator()<Probe>();
    case ShapeId::kSlice: break;
  }
  return action.template operator()<Slice>();
}

}  // namespace orfebre
