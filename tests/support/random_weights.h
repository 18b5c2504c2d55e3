// Random weights as a pure function of a seed: tools/fixtures/seeded_weights.py computes the same bits, so
// that fixtures made there hold for a model loaded from here, and no large file is committed. The formula
// stands there.
#pragma once

#include "spec/weight_source.h"

#include <map>
#include <memory>
#include <mutex>

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
  void release_rows(const MatrixSpec& spec, int first_row, int n_rows) override;
  uint64_t total_bytes() const override;

 private:
  struct Storage {
    std::once_flag made;
    std::vector<uint32_t> codes;
    std::vector<bf16> scales;
    std::vector<bf16> biases;
  };
  void make_storage(Storage& storage, const MatrixSpec& spec) const;

  const ShapeInfo shape_;
  const uint64_t seed_;
  std::mutex mutex_;                                                      // guards alive_
  std::map<std::pair<MatrixRole, int>, std::shared_ptr<Storage>> alive_;  // made whole, until released whole
};

}  // namespace orfebre::test
