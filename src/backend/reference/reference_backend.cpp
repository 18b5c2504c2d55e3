// Memory and the table of ops; what an op computes is in the file of its name.
#include "backend/reference/reference_backend.h"

#include "backend/reference/kv_layout.h"
#include "backend/reference/ops.h"
#include "base/error.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <new>

namespace orfebre {
namespace {

const ShapeInfo& shape_info(ShapeId id) {
  return *std::find_if(kShapes.begin(), kShapes.end(),
                       [id](const ShapeInfo& shape) { return shape.id == id; });
}

BackendInfo info_of(const ShapeInfo& shape) {
  BackendInfo info;
  info.name = "reference";
  info.takes_dense = true;
  info.decode_state_is_exact = true;
  info.kv_block_bytes = reference::kKvBlockFloats * sizeof(float);
  info.delta_layer_floats =
      static_cast<uint64_t>(shape.value_heads * shape.delta_head_dim * shape.delta_head_dim);
  info.conv_layer_floats = static_cast<uint64_t>((shape.conv_taps - 1) * shape.conv_channels());
  info.state_slot_floats =
      static_cast<uint64_t>(shape.delta_layers()) * (info.delta_layer_floats + info.conv_layer_floats);
  return info;
}

// Bytes of codes and of scales (as many again for biases) of `weights` weights.
uint64_t code_bytes(uint64_t weights, int bits) {
  return weights * static_cast<uint64_t>(bits) / 8;
}
uint64_t scale_bytes(uint64_t weights, int bits) {
  return bits >= 16 ? 0 : weights / CommonShape::kQuantGroup * sizeof(bf16);
}

class ReferenceBackend final : public Backend {
 public:
  ReferenceBackend(ShapeId shape, const BackendOptions& options)
      : shape_(shape_info(shape)), info_(info_of(shape_)), l2_epsilon_(options.l2_epsilon) {}

  const ShapeInfo& shape() const override { return shape_; }
  const BackendInfo& info() const override { return info_; }

  void* allocate(uint64_t bytes, const char* what) override {
    const uint64_t units = (bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t);
    std::unique_ptr<std::max_align_t[]> memory(new (std::nothrow) std::max_align_t[units]());
    if (memory == nullptr) {
      fail(ErrorKind::kOutOfMemory, "no memory for {}: {} bytes; take a smaller context or fewer sequences",
           what, bytes);
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    memory_.push_back(std::move(memory));
    return memory_.back().get();
  }

  void to_device(void* device, const void* host, uint64_t bytes) override { copy(device, host, bytes); }
  void to_host(void* host, const void* device, uint64_t bytes) override { copy(host, device, bytes); }

  // Kept as the file has it; rows are dequantised as they are used.
  Matrix allocate_matrix(const MatrixSpec& spec, int bits) override {
    const uint64_t weights = static_cast<uint64_t>(row_count(spec)) * static_cast<uint64_t>(spec.n_in);
    Matrix matrix{nullptr, nullptr, nullptr, spec.n_matrices, spec.n_out, spec.n_in, bits};
    matrix.codes = allocate(code_bytes(weights, bits), "weights");
    if (bits < 16) {
      matrix.scales = allocate(scale_bytes(weights, bits), "weights");
      matrix.biases = allocate(scale_bytes(weights, bits), "weights");
    }
    return matrix;
  }

  void upload_rows(const Matrix& to, MatrixRole, int first_row, const AffineTensor& rows) override {
    const auto weights = static_cast<uint64_t>(rows.n_matrices) * static_cast<uint64_t>(rows.n_out) *
                         static_cast<uint64_t>(rows.n_in);
    const uint64_t before = static_cast<uint64_t>(first_row) * static_cast<uint64_t>(rows.n_in);
    const void* const codes = rows.bits == 32   ? static_cast<const void*>(rows.dense_f32)
                              : rows.bits == 16 ? static_cast<const void*>(rows.dense_bf16)
                                                : rows.codes;
    put(to.codes, code_bytes(before, rows.bits), codes, code_bytes(weights, rows.bits));
    if (!rows.is_dense()) {
      put(to.scales, scale_bytes(before, rows.bits), rows.scales, scale_bytes(weights, rows.bits));
      put(to.biases, scale_bytes(before, rows.bits), rows.biases, scale_bytes(weights, rows.bits));
    }
  }

  const float* upload_vector(VectorRole, std::span<const float> values) override {
    void* const device = allocate(values.size_bytes(), "weight vectors");
    copy(device, values.data(), values.size_bytes());
    return static_cast<const float*>(device);
  }

  uint64_t matrix_bytes(const MatrixSpec& spec, int bits) const override { return stored_bytes(spec, bits); }
  uint64_t scratch_bytes(const StepLimits&) const override { return 0; }  // rows at a time: some kilobytes

  const StepHeader* begin_step(const Step& step) override {
    step_ = step;
    header_ = header_of(step_);
    return &header_;
  }

  void embed(const EmbedOp& op) override { reference::embed(shape_, op); }
  void gdn_project(const GdnProjectOp& op) override { reference::gdn_project(shape_, op); }
  void gdn_mix(const GdnMixOp& op) override { reference::gdn_mix(shape_, op, l2_epsilon_); }
  void gdn_output(const GdnOutputOp& op) override { reference::gdn_output(shape_, op); }
  void attn_project(const AttnProjectOp& op) override { reference::attn_project(shape_, op); }
  void attn_mix(const AttnMixOp& op) override { reference::attn_mix(shape_, op); }
  void attn_output(const AttnOutputOp& op) override { reference::attn_output(shape_, op); }
  void route(const RouteOp& op) override { reference::route(shape_, op); }
  void experts_up(const ExpertsUpOp& op) override { reference::experts_up(shape_, op); }
  void experts_down(const ExpertsDownOp& op) override { reference::experts_down(shape_, op); }
  void head(const HeadOp& op) override { reference::head(shape_, op); }
  void pick(const PickOp& op) override { reference::pick(op); }
  void copy_state(float* to, const float* from, uint64_t floats) override {
    reference::copy_state(to, from, floats);
  }

  void wait() override {}

 private:
  // Empty arrays may have a null pointer, which memcpy does not take.
  static void copy(void* to, const void* from, uint64_t bytes) {
    if (bytes > 0) {
      std::memcpy(to, from, bytes);
    }
  }

  // Into memory that `allocate` gave: Matrix points to it as constant for the ops.
  static void put(const void* to, uint64_t offset_bytes, const void* from, uint64_t bytes) {
    copy(static_cast<std::byte*>(const_cast<void*>(to)) + offset_bytes, from, bytes);
  }

  const ShapeInfo& shape_;
  const BackendInfo info_;
  const float l2_epsilon_;
  std::mutex mutex_;  // guards memory_: tensors are uploaded by several threads
  std::vector<std::unique_ptr<std::max_align_t[]>> memory_;
  Step step_;
  StepHeader header_{};
};

}  // namespace

std::unique_ptr<Backend> make_reference_backend(ShapeId shape, const BackendOptions& options) {
  return std::make_unique<ReferenceBackend>(shape, options);
}

}  // namespace orfebre
