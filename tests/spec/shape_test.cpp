// The real shape's totals against the published ones: 34,660,610,688 parameters in the text model, and
// 19,508,787,456 bytes of weights at 4 bits with 8-bit routers and shared-expert gates.
#include "spec/weights.h"

#include <gtest/gtest.h>

#include <set>

namespace orfebre {
namespace {

constexpr ShapeInfo kReal = describe<Qwen36>();

int64_t elements(const MatrixSpec& spec) {
  return int64_t{spec.n_matrices} * spec.n_out * spec.n_in;
}

TEST(RealShape, HasThePublishedNumberOfParameters) {
  int64_t total = 0;
  for (const MatrixSpec& spec : matrix_specs(kReal)) {
    total += elements(spec);
  }
  for (const VectorSpec& spec : vector_specs(kReal)) {
    total += spec.size;
  }
  EXPECT_EQ(total, 34'660'610'688);
}

TEST(RealShape, HasThePublishedNumberOfBytes) {
  uint64_t total = 0;
  for (const MatrixSpec& spec : matrix_specs(kReal)) {
    const bool eight_bits = spec.role == MatrixRole::kRouter || spec.role == MatrixRole::kSharedGate;
    total += stored_bytes(spec, eight_bits ? 8 : 4);
  }
  for (const VectorSpec& spec : vector_specs(kReal)) {
    total += static_cast<uint64_t>(spec.size) * sizeof(bf16);
  }
  EXPECT_EQ(total, 19'508'787'456u);
}

TEST(AllShapes, NameEachWeightOnce) {
  for (const ShapeInfo& shape : kShapes) {
    std::set<std::string> names;
    size_t count = 0;
    for (const MatrixSpec& spec : matrix_specs(shape)) {
      names.insert(weight_name(spec.role, spec.layer));
      ++count;
      EXPECT_EQ(spec.n_in % CommonShape::kQuantGroup, 0) << weight_name(spec.role, spec.layer);
    }
    for (const VectorSpec& spec : vector_specs(shape)) {
      names.insert(weight_name(spec.role, spec.layer));
      ++count;
    }
    EXPECT_EQ(names.size(), count) << shape.name;
  }
}

TEST(AllShapes, RunTimeDispatchFindsTheSameNumbers) {
  for (const ShapeInfo& shape : kShapes) {
    const int hidden = with_shape(shape.id, []<class Shape>() { return Shape::kHidden; });
    EXPECT_EQ(hidden, shape.hidden);
    EXPECT_EQ(shape.attention_layers() + shape.delta_layers(), shape.layers);
  }
}

}  // namespace
}  // namespace orfebre
