// A checkpoint directory as a WeightSource: config.json, safetensors files, names and conventions joined.
//
// Owns: the plan (which bytes of which file make each weight) and the buffers of tensors handed out.
// Construction reads headers only, and fails unless every weight is there with the right shape and dtype.
// Thread-safe reads: one tensor's memory a loader thread, plus what has not been released.
//
// Whatever the file's convention, vectors come out as spec/weights.h says: norms as f32 multipliers (1 + w),
// the convolution as [channels, 4], A_log and dt_bias in f32. Matrices come out as the file holds them.
#pragma once

#include "checkpoint/config.h"
#include "checkpoint/name_map.h"
#include "checkpoint/read_buffers.h"
#include "checkpoint/safetensors.h"
#include "spec/weight_source.h"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace orfebre {

struct CheckpointOptions {
  // Quantise unquantised matrices while reading, as `orfebre quantize` would: for backends that take no dense
  // ones.
  bool quantize_dense = false;
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
  AffineTensor read_matrix(const MatrixSpec& spec) override;
  std::vector<float> read_vector(const VectorSpec& spec) override;
  void release_matrix(const MatrixSpec& spec) override;
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

  // Where the three parts of a quantised matrix lie in one buffer.
  struct Parts {
    uint32_t* codes = nullptr;
    bf16* scales = nullptr;
    bf16* biases = nullptr;
  };

  // `held` becomes large enough for both the codes and the groups.
  Parts take_parts(ReadBuffer& held, uint64_t codes_bytes, uint64_t groups_bytes);
  void plan_weights();
  void plan_matrix(const MatrixSpec& spec, std::vector<std::string>& missing);
  void plan_quantized(MatrixPlan& plan, const MatrixSpec& spec, std::vector<std::string>& missing) const;
  void plan_vector(const VectorSpec& spec, std::vector<std::string>& missing);
  const MatrixPlan& plan_of(const MatrixSpec& spec) const;

  void read_quantized(ReadBuffer& held, AffineTensor& view, const MatrixPlan& plan, const MatrixSpec& spec);
  void read_dense(ReadBuffer& held, AffineTensor& view, const MatrixPlan& plan, const MatrixSpec& spec);
  void read_and_quantize(ReadBuffer& held, AffineTensor& view, const MatrixPlan& plan,
                         const MatrixSpec& spec);
  void read_dense_rows(void* destination, const MatrixPlan& plan, const MatrixSpec& spec, int matrix,
                       int first_row, int n_rows) const;

  std::string directory_;
  CheckpointOptions options_;
  ModelConfig config_;
  SafetensorsSet files_;
  CheckpointConvention convention_;
  bool drop_pages_ = false;
  std::map<Key, MatrixPlan> matrices_;
  std::map<std::pair<VectorRole, int>, const TensorInfo*> vectors_;
  ReadBuffers buffers_;
  std::mutex mutex_;  // guards the two below
  std::map<Key, ReadBuffer> held_;
  size_t n_released_ = 0;
};

}  // namespace orfebre
