#include "support/random_weights.h"

#include "support/seeded_formula.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace orfebre::test {
namespace {

// The size of a matrix's outputs for inputs of order 1.
double gain_of(MatrixRole role, const ShapeInfo& shape) {
  switch (role) {
    case MatrixRole::kEmbedding: return std::sqrt(static_cast<double>(shape.hidden));
    case MatrixRole::kHead:
    case MatrixRole::kAttnOut: return 2.0;
    case MatrixRole::kGdnA: return 0.5;
    case MatrixRole::kAttnV:
    case MatrixRole::kSharedUpGate:
    case MatrixRole::kSharedUp:
    case MatrixRole::kExpertGate:
    case MatrixRole::kExpertUp: return 1.5;
    default: return 1.0;
  }
}

// Rows of some roles are larger or smaller than the others: uneven routing, and key heads (h % 4 == 1) so
// faint that the epsilon of their l2 norm is felt.
float row_gain(MatrixRole role, const ShapeInfo& shape, uint64_t rows_key, int row) {
  if (role == MatrixRole::kRouter) {
    return 0.5f + 1.5f * unit(rows_key, static_cast<uint64_t>(row));
  }
  const int head = row / shape.delta_head_dim;
  const bool faint =
      role == MatrixRole::kGdnQkv && head < 2 * shape.key_heads && head % shape.key_heads % 4 == 1;
  return faint ? 1.0f / 256.0f : 1.0f;
}

struct Range {
  float low;
  float high;
  bool climbing;  // from head to head
};

Range range_of(VectorRole role) {
  switch (role) {
    case VectorRole::kGdnConv: return {-1.0f, 1.0f, false};
    case VectorRole::kGdnALog: return {-2.0f, 1.25f, true};
    case VectorRole::kGdnDtBias: return {-5.0f, 1.0f, true};
    case VectorRole::kAttnQNorm:
    case VectorRole::kAttnKNorm: return {0.5f, 2.0f, false};
    default: return {0.5f, 1.5f, false};
  }
}

uint64_t seed_of(ShapeId shape) {
  switch (shape) {
    case ShapeId::kDemo: return kDemoSeed;
    case ShapeId::kSlice: return kSliceSeed;
    case ShapeId::kQwen36: return kQwen36Seed;
    case ShapeId::kProbe: break;
  }
  return kProbeSeed;
}

}  // namespace

RandomWeights::RandomWeights(ShapeId shape, uint64_t seed)
    : shape_(with_shape(shape, []<class Shape>() { return describe<Shape>(); })), seed_(seed) {}

RandomWeights::RandomWeights(ShapeId shape) : RandomWeights(shape, seed_of(shape)) {}

int RandomWeights::matrix_bits(const MatrixSpec& spec) const {
  return spec.role == MatrixRole::kRouter || spec.role == MatrixRole::kSharedGate ? 8 : 4;
}

// Every number is a function of its index, so that rows are made as they are asked for.
AffineTensor RandomWeights::read_rows(std::vector<std::byte>& memory, const MatrixSpec& spec, int first_row,
                                      int n_rows) {
  const std::string name = weight_name(spec.role, spec.layer);
  AffineTensor tensor;
  tensor.n_out = n_rows;
  tensor.n_in = spec.n_in;
  tensor.bits = matrix_bits(spec);
  const uint64_t row_words = static_cast<uint64_t>(spec.n_in * tensor.bits / 32);
  const uint64_t row_groups = static_cast<uint64_t>(spec.n_in / CommonShape::kQuantGroup);
  const uint64_t n_words = static_cast<uint64_t>(n_rows) * row_words;
  const uint64_t n_groups = static_cast<uint64_t>(n_rows) * row_groups;
  memory.resize(std::max<size_t>(memory.size(), n_words * 4 + n_groups * 4));
  auto* const codes = reinterpret_cast<uint32_t*>(memory.data());
  auto* const scales = reinterpret_cast<bf16*>(codes + n_words);
  bf16* const biases = scales + n_groups;

  const uint64_t codes_key = key_of(seed_, name, "codes");
  const uint64_t first_word =
      static_cast<uint64_t>(first_row) * row_words;  // even: groups are 8 words or more
  for (uint64_t w = 0; w < n_words; w += 2) {
    const uint64_t both = word(codes_key, (first_word + w) / 2);
    codes[w] = static_cast<uint32_t>(both);
    codes[w + 1] = static_cast<uint32_t>(both >> 32);
  }

  const float middle = tensor.bits == 4 ? 7.5f : 127.5f;
  const double deviation = tensor.bits == 4 ? 4.8 : 77.0;
  const float base =
      static_cast<float>(gain_of(spec.role, shape_) / std::sqrt(static_cast<double>(spec.n_in)) / deviation);
  const uint64_t scales_key = key_of(seed_, name, "scales");
  const uint64_t biases_key = key_of(seed_, name, "biases");
  const uint64_t rows_key = key_of(seed_, name, "rows");
  for (uint64_t i = 0; i < n_groups; ++i) {
    const int row = first_row + static_cast<int>(i / row_groups);
    const uint64_t g = static_cast<uint64_t>(first_row) * row_groups + i;
    const float size = (base * row_gain(spec.role, shape_, rows_key, row)) * (0.5f + unit(scales_key, g));
    scales[i] = to_bf16((word(scales_key, g) & 1u) != 0 ? -size : size);
    biases[i] = to_bf16((-middle * to_f32(scales[i])) * (0.9f + 0.2f * unit(biases_key, g)));
  }
  tensor.codes = codes;
  tensor.scales = scales;
  tensor.biases = biases;
  return tensor;
}

std::vector<float> RandomWeights::read_vector(const VectorSpec& spec) {
  const Range range = range_of(spec.role);
  const uint64_t key = key_of(seed_, weight_name(spec.role, spec.layer), "value");
  std::vector<float> values;
  for (int i = 0; i < spec.size; ++i) {
    const float u = unit(key, static_cast<uint64_t>(i));
    const float place = range.climbing ? (static_cast<float>(i) + u) / static_cast<float>(spec.size) : u;
    values.push_back(to_f32(to_bf16(range.low + (range.high - range.low) * place)));
  }
  return values;
}

uint64_t RandomWeights::total_bytes() const {
  uint64_t bytes = 0;
  for (const MatrixSpec& spec : matrix_specs(shape_)) {
    bytes += stored_bytes(spec, matrix_bits(spec));
  }
  return bytes;
}

}  // namespace orfebre::test
