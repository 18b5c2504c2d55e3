// Where weights come from: a checkpoint on disk, or a seed in tests. A backend takes matrices in parts of
// some rows, from several threads, so that a part is still in the cache when it is repacked.
#pragma once

#include "spec/weights.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace orfebre {

class WeightSource {
 public:
  virtual ~WeightSource() = default;

  virtual const ShapeInfo& shape() const = 0;

  // The width a matrix will have in the file, before it is read: for memory plans. 4, 8, 16 or 32.
  virtual int matrix_bits(const MatrixSpec& spec) const = 0;

  // Rows [first_row, first_row + n_rows) of the matrix as one matrix of n_rows rows; in a stack of experts
  // rows are counted on: row r of matrix m is m * n_out + r. The view points into `memory`, which grows as
  // needed and is best used again. Any number of threads may read at once. Throws Error(kBadCheckpoint) when
  // the bytes are not what the spec says or hold NaN or infinity in scales, biases or vectors.
  virtual AffineTensor read_rows(std::vector<std::byte>& memory, const MatrixSpec& spec, int first_row,
                                 int n_rows) = 0;
  virtual std::vector<float> read_vector(const VectorSpec& spec) = 0;

  // A hint: these rows were read, and the system may forget them.
  virtual void release_rows(const MatrixSpec& spec, int first_row, int n_rows) = 0;

  // Bytes of all tensors that will be read: for progress bars.
  virtual uint64_t total_bytes() const = 0;
};

// A matrix, or a stack of experts, read whole.
struct StoredMatrix {
  std::vector<std::byte> memory;
  AffineTensor view;  // points into `memory`
};
StoredMatrix read_matrix(WeightSource& source, const MatrixSpec& spec);

}  // namespace orfebre
