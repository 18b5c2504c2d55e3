// Making the backend, its memory and its weights; the ops are in ops_*.inl, included here because they are
// templates over the shape.
#include "backend/cpu/cpu_backend.h"

#include "backend/cpu/cpu_ops.h"
#include "backend/cpu/paths.h"
#include "base/error.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace orfebre {
namespace cpu {

template <class Shape>
CpuBackend<Shape>::CpuBackend(const Kernels& kernels, const BackendOptions& options)
    : shape_(describe<Shape>()), kernels_(kernels), l2_epsilon_(options.l2_epsilon), pool_(options.threads) {
  info_.name = fmt::format("cpu ({}, {} thread{})", kernels.name, pool_.size(), pool_.size() == 1 ? "" : "s");
  info_.takes_dense = false;
  info_.streams_experts = true;
  info_.decode_state_is_exact = true;
  info_.kv_block_bytes = kKvBlockBytes;
  info_.delta_layer_floats = static_cast<uint64_t>(Shape::kValueHeads) * kDeltaHeadFloats;
  info_.conv_layer_floats =
      static_cast<uint64_t>(Shape::kConvTaps - 1) * static_cast<uint64_t>(shape_.conv_channels());
  info_.state_slot_floats =
      static_cast<uint64_t>(shape_.delta_layers()) * (info_.delta_layer_floats + info_.conv_layer_floats);
  thread_scratch_.at_least(static_cast<uint64_t>(pool_.size()) * kThreadScratchBytes, "thread scratch");
}

template <class Shape>
void* CpuBackend<Shape>::allocate(uint64_t bytes, const char* what) {
  return memory_.allocate(bytes, what);
}

template <class Shape>
void CpuBackend<Shape>::to_device(void* device, const void* host, uint64_t bytes) {
  if (bytes > 0) {
    std::memcpy(device, host, bytes);
  }
}

template <class Shape>
void CpuBackend<Shape>::to_host(void* host, const void* device, uint64_t bytes) {
  if (bytes > 0) {
    std::memcpy(host, device, bytes);
  }
}

namespace {

void require_affine(MatrixRole role, int bits, int n_in) {
  if (bits != 4 && bits != 8) {
    fail(ErrorKind::kUnsupported,
         "{}: the CPU backend multiplies 4- and 8-bit matrices, found {} bits; quantise the checkpoint "
         "first, or "
         "use --backend reference",
         weight_name(role, -1), bits);
  }
  if (n_in % kGroup != 0) {
    fail(ErrorKind::kInternal, "{}: rows of {} values are not made of groups of 64", weight_name(role, -1),
         n_in);
  }
}

}  // namespace

template <class Shape>
Matrix CpuBackend<Shape>::allocate_matrix(const MatrixSpec& spec, int bits) {
  uint8_t* const memory = memory_.allocate(matrix_bytes(spec, bits), "weights");
  return {memory, nullptr, nullptr, spec.n_matrices, spec.n_out, spec.n_in, bits};
}

template <class Shape>
void CpuBackend<Shape>::upload_rows(const Matrix& to, MatrixRole role, int first_row,
                                    const AffineTensor& rows) {
  static_assert(kUploadRows == kPanelRows);
  ORFEBRE_CHECK(first_row % kPanelRows == 0 && rows.bits == to.bits && rows.n_in == to.n_in);
  // allocate_matrix gave it; the ops only read.
  repack_rows(static_cast<uint8_t*>(const_cast<void*>(to.codes)), role, to.n_out, first_row, rows);
}

template <class Shape>
std::vector<Backend::ExpertMatrices> CpuBackend<Shape>::stream_experts(WeightSource& source,
                                                                       uint64_t budget_bytes) {
  expert_cache_ = std::make_unique<ExpertCache>(source, budget_bytes);
  return expert_cache_->handles();
}

template <class Shape>
const float* CpuBackend<Shape>::upload_vector(VectorRole role, std::span<const float> values) {
  auto* const memory = reinterpret_cast<float*>(memory_.allocate(values.size_bytes(), "weight vectors"));
  if (role == VectorRole::kGdnConv) {  // [channels, 4] becomes [4, channels]: channels are the lanes
    const size_t channels = values.size() / Shape::kConvTaps;
    for (size_t i = 0; i < values.size(); ++i) {
      memory[i % Shape::kConvTaps * channels + i / Shape::kConvTaps] = values[i];
    }
  } else {
    std::copy(values.begin(), values.end(), memory);
  }
  return memory;
}

template <class Shape>
uint64_t CpuBackend<Shape>::matrix_bytes(const MatrixSpec& spec, int bits) const {
  require_affine(spec.role, bits, spec.n_in);
  return repacked_bytes(spec.role, spec.n_matrices, spec.n_out, spec.n_in, bits);
}

// Follows the calls of at_least and floats in ops_*.inl: the largest of each.
template <class Shape>
uint64_t CpuBackend<Shape>::scratch_bytes(const StepLimits& limits) const {
  const auto rows = static_cast<uint64_t>(std::max(limits.max_prefill_rows, kMaxDecodeRows));
  const uint64_t quantized_row = std::max(
      {quantized_row_bytes(Shape::kHidden), quantized_row_bytes(shape_.value_width()),
       quantized_row_bytes(shape_.query_width()), kSlots * quantized_row_bytes(Shape::kExpertWidth)});
  const auto row_floats = static_cast<uint64_t>(std::max(2 * shape_.kv_width(), Shape::kExperts + 16));
  const uint64_t split_attention_floats =
      uint64_t{kMaxDecodeRows} * Shape::kKvHeads * (1 + kSplitBlocks) * kPartialFloats;
  const auto vocab = static_cast<uint64_t>(Shape::kVocab);
  constexpr uint64_t kOrderedBytes =
      32;  // pick's candidates, weights and ids, in vectors that grow by halves
  return Scratch::mapped_bytes(rows * quantized_row) +
         Scratch::mapped_bytes(std::max(rows * row_floats, split_attention_floats) * sizeof(float)) +
         Scratch::mapped_bytes(static_cast<uint64_t>(pool_.size()) * kThreadScratchBytes) +
         Scratch::mapped_bytes(vocab * sizeof(float)) + vocab * kOrderedBytes +
         rows * kSlots * 3 * sizeof(int32_t);
}

template <class Shape>
const StepHeader* CpuBackend<Shape>::begin_step(const Step& step) {
  step_ = step;
  header_ = header_of(step_);
  return &header_;
}

template <class Shape>
void CpuBackend<Shape>::copy_state(float* to, const float* from, uint64_t floats) {
  pool_.run(static_cast<int64_t>(floats), [&](int64_t begin, int64_t end, int) {
    std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin) * sizeof(float));
  });
}

template <class Shape>
uint8_t* CpuBackend<Shape>::thread_scratch(int thread) const {
  return thread_scratch_.data() + static_cast<uint64_t>(thread) * kThreadScratchBytes;
}

#include "backend/cpu/ops_dense.inl"
#include "backend/cpu/ops_experts.inl"
#include "backend/cpu/ops_mixers.inl"
#include "backend/cpu/ops_pick.inl"

}  // namespace cpu

bool cpu_backend_runs_here() {
  return cpu::best_path() != nullptr;
}

std::unique_ptr<Backend> make_cpu_backend(ShapeId shape, const BackendOptions& options) {
  const cpu::Kernels& kernels = cpu::choose_kernels(options.cpu_path);
  return with_shape(shape, [&]<class Shape>() -> std::unique_ptr<Backend> {
    return std::make_unique<cpu::CpuBackend<Shape>>(kernels, options);
  });
}

}  // namespace orfebre
