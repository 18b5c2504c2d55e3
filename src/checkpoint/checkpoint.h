// A checkpoint directory as a WeightSource: config.json, safetensors files, names and conventions joined.
//
// Owns: the plan (which bytes of which file make each weight); rows are read into the caller's memory.
// Construction reads headers only, and fails unless every weight is there with the right shape and dtype.
// Any number of threads may read.
//
// Whatever the file's convention, vectors come out as spec/weights.h says: norms as f32 multipliers (1 + w),
// the convolution as [channels, 4], A_log and dt_bias in f32. Matrices come out as the file holds them.
#pragma once

#include "checkpoint/config.h"
#include "checkpoint/name_map.h"
#include "checkpoint/safetensors.h"
#include "spec/weight_source.h"

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace orfebre {

struct CheckpointOptions {
  // Quantise unquantised matrices while reading, as `orfebre quantize` would: for backends that take no dense
  // ones.
  bool quantize_dense = false;
  // Above this size pages of the files are dropped from the kernel's cache once they are read, so that file
  // and model need not fit into memory together. Dropping those of a small model would only slow its next
  // start.
  uint64_t drop_pages_above_bytes = uint64_t{2} << 30;
  PageCache page_cache = PageCache::kUse;
};

// The width our quantiser gives a matrix: 8 bits for the router and the shared expert's gate, else 4.
int default_bits(MatrixRole role);

class Checkpoint final : public WeightSource {
 public:
  // Throws Error: kNotFound, kUnsupported (another model) or kBadCheckpoint (damaged, incomplete).
  explicit Checkpoint(const std::string& directory, const CheckpointOptions& options = {});

  const ModelConfig& config() const { return config_; }
  const SafetensorsSet& files() const { return files_; }
  const CheckpointConvention& convention() const { return convention_; }
  // The stored tensor of a vector: its dtype, for exporting.
  const TensorInfo& vector_tensor(const VectorSpec& spec) const;

  // The width a matrix has in the file, also where it is quantised while reading.
  int stored_bits(const MatrixSpec& spec) const { return plan_of(spec).bits; }

  const ShapeInfo& shape() const override { return config_.shape; }
  int matrix_bits(const MatrixSpec& spec) const override;
  AffineTensor read_rows(std::vector<std::byte>& memory, const MatrixSpec& spec, int first_row,
                         int n_rows) override;
  std::vector<float> read_vector(const VectorSpec& spec) override;
  void release_rows(const MatrixSpec& spec, int first_row, int n_rows) override;
  // Bytes of all matrices as they are handed over.
  uint64_t total_bytes() const override;

 private:
  // Where a matrix's bytes are. Fused experts interleave gate and up rows, hence the stride.
  struct MatrixPlan {
    const TensorInfo* values = nullptr;  // codes or dense values
    const TensorInfo* scales = nullptr;  // null for dense
    const TensorInfo* biases = nullptr;
    int bits = 0;       // as stored: 4, 8, 16 or 32
    int file_rows = 0;  // rows of one matrix in the file
    int first_row = 0;  // the first of them that is ours
  };
  using Key = std::pair<MatrixRole, int>;

  void plan_weights();
  void plan_matrix(const MatrixSpec& spec, std::vector<std::string>& missing);
  void plan_quantized(MatrixPlan& plan, const MatrixSpec& spec, std::vector<std::string>& missing) const;
  void plan_vector(const VectorSpec& spec, std::vector<std::string>& missing);
  const MatrixPlan& plan_of(const MatrixSpec& spec) const;

  // Rows asked for, counted through a stack of experts.
  struct Rows {
    const MatrixPlan& plan;
    const MatrixSpec& spec;
    int first;
    int count;
  };
  // The bytes of one of the plan's tensors that hold the rows; of fused experts, whole matrices.
  struct ByteRange {
    uint64_t offset_bytes;  // from the tensor's start
    uint64_t n_bytes;
  };
  static ByteRange bytes_of(const TensorInfo& tensor, const Rows& rows);
  template <class Action>
  static void for_tensors(const Rows& rows, const Action& action);
  void read_quantized(AffineTensor& view, std::vector<std::byte>& memory, const Rows& rows) const;
  void read_dense(AffineTensor& view, std::vector<std::byte>& memory, const Rows& rows) const;
  void read_and_quantize(AffineTensor& view, std::vector<std::byte>& memory, const Rows& rows) const;
  void read_dense_rows(void* destination, const Rows& rows) const;

  std::string directory_;
  CheckpointOptions options_;
  ModelConfig config_;
  SafetensorsSet files_;
  CheckpointConvention convention_;
  bool drop_pages_ = false;
  std::map<Key, MatrixPlan> matrices_;
  std::map<std::pair<VectorRole, int>, const TensorInfo*> vectors_;
  std::atomic<size_t> n_released_{0};  // matrices, whole
};

}  // namespace orfebre
