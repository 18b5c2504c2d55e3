// Random weights as a pure function of a seed: tools/fixtures/seeded_weights.py computes the same bits, so
// that fixtures made there hold for a model loaded from here, and no large file is committed. The formula
// stands there.
#pragma once

#include "spec/weight_source.h"

#include <cstddef>
#include <vector>

namespace orfebre::test {

// The seeds that tests/data/model was made with.
constexpr uint64_t kProbeSeed = 1;
constexpr uint64_t kDemoSeed = 2;
constexpr uint64_t kSliceSeed = 3;
constexpr uint64_t kQwen36Seed = 4;

class RandomWeights final : public WeightSource {
 public:
  RandomWeights(ShapeId shape, uint64_t seed);
  // The weights of tests/data/model's fixture of this shape.
  explicit RandomWeights(ShapeId shape);

  const ShapeInfo& shape() const override { return shape_; }
  int matrix_bits(const MatrixSpec& spec) const override;
  AffineTensor read_rows(std::vector<std::byte>& memory, const MatrixSpec& spec, int first_row,
                         int n_rows) override;
  std::vector<float> read_vector(const VectorSpec& spec) override;
  void release_rows(const MatrixSpec&, int, int) override {}
  uint64_t total_bytes() const override;

 private:
  const ShapeInfo shape_;
  const uint64_t seed_;
};

}  // namespace orfebre::test
