// Where weights come from: a checkpoint on disk, or a seed in tests. The model pulls each tensor once,
// from several threads, hands it to the backend, and releases it.
#pragma once

#include "spec/weights.h"

#include <cstdint>
#include <vector>

namespace orfebre {

class WeightSource {
 public:
  virtual ~WeightSource() = default;

  virtual const ShapeInfo& shape() const = 0;

  // The width a matrix will have in the file, before it is read: for memory plans. 4, 8, 16 or 32.
  virtual int matrix_bits(const MatrixSpec& spec) const = 0;

  // Reads one tensor. Thread-safe: different tensors may be read at once. Throws Error(kBadCheckpoint)
  // when the bytes are not what the spec says or hold NaN or infinity in scales, biases or vectors.
  virtual AffineTensor read_matrix(const MatrixSpec& spec) = 0;
  virtual std::vector<float> read_vector(const VectorSpec& spec) = 0;

  // The view returned for `spec` is no longer used: its buffers and file pages may go.
  virtual void release_matrix(const MatrixSpec& spec) = 0;

  // Bytes of all tensors that will be read: for progress bars.
  virtual uint64_t total_bytes() const = 0;
};

}  // namespace orfebre
