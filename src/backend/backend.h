// What a backend is: memory, repacked weights, the block ops and the pick. One instance runs one model and
// belongs to one thread, save where noted. A backend never sees requests, strings or files.
//
// Ops are enqueued in call order; `wait` makes everything enqueued visible. CPU backends may simply run each
// op before returning. To add an op or a backend: src/backend/README.md.
#pragma once

#include "backend/params.h"
#include "base/error.h"
#include "spec/step.h"
#include "spec/weight_source.h"
#include "spec/weights.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace orfebre {

struct BackendOptions {
  int threads = 0;           // CPU: 0 takes the physical cores
  std::string cpu_path;      // CPU: an instruction set to force (cpu/paths.h), or ""
  float l2_epsilon = 1e-6f;  // added to the sum of squares of q and k; tests emulate MLX's 1.28e-4
};

struct BackendInfo {
  std::string name;              // "reference", "cpu (neon-dotprod, 2 threads)"
  bool takes_dense = false;      // accepts bf16 and f32 matrices; others need 4 or 8 bits
  bool streams_experts = false;  // see Backend::stream_experts
  // Whether decode steps leave KV rows and recurrent state equal, bit by bit, to those of a prefill. Where
  // not, only what prefill steps left is reused for other prompts.
  bool decode_state_is_exact = false;
  uint64_t kv_block_bytes = 0;      // bytes of one 64-token block of one attention layer, k and v
  uint64_t state_slot_floats = 0;   // floats of one state slot, all DeltaNet layers together
  uint64_t delta_layer_floats = 0;  // of which, per layer: the delta state ...
  uint64_t conv_layer_floats = 0;   // ... and the convolution's rows
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual const ShapeInfo& shape() const = 0;
  virtual const BackendInfo& info() const = 0;

  // Memory. `allocate` returns zeroed device memory that lives as long as the backend; throws
  // Error(kOutOfMemory) naming `what`. `to_device` and `to_host` copy and wait.
  virtual void* allocate(uint64_t bytes, const char* what) = 0;
  virtual void to_device(void* device, const void* host, uint64_t bytes) = 0;
  virtual void to_host(void* host, const void* device, uint64_t bytes) = 0;

  // Weights, in the backend's own layout: allocate_matrix makes room for a matrix or a stack of experts,
  // upload_rows repacks rows [first_row, first_row + rows.n_out) of it, counted through the stack, from
  // several threads at once. Parts begin at multiples of kUploadRows, and end there or with the matrix.
  static constexpr int kUploadRows = 16;
  virtual Matrix allocate_matrix(const MatrixSpec& spec, int bits) = 0;
  virtual void upload_rows(const Matrix& to, MatrixRole role, int first_row, const AffineTensor& rows) = 0;
  virtual const float* upload_vector(VectorRole role, std::span<const float> values) = 0;
  Matrix upload_matrix(MatrixRole role, const AffineTensor& tensor) {  // both at once
    const Matrix matrix =
        allocate_matrix({role, -1, tensor.n_matrices, tensor.n_out, tensor.n_in}, tensor.bits);
    upload_rows(matrix, role, 0, tensor);
    return matrix;
  }

  // For the memory plan: bytes that allocate_matrix takes, and what the ops of steps within `limits` take for
  // themselves, which is allocated when it is first needed.
  virtual uint64_t matrix_bytes(const MatrixSpec& spec, int bits) const = 0;
  virtual uint64_t scratch_bytes(const StepLimits& limits) const = 0;

  // Instead of uploading them: experts stay in `source`, which must outlive the backend, and are read when a
  // step needs them; those used last are kept, up to `budget_bytes`, at least one layer's. Returns the
  // handles of every layer. What reading throws comes out of experts_up and experts_down; the backend can be
  // used on. Throws Error(kUnsupported) unless info().streams_experts.
  struct ExpertMatrices {
    Matrix gate, up, down;
  };
  virtual std::vector<ExpertMatrices> stream_experts(WeightSource& source, uint64_t budget_bytes) {
    static_cast<void>(source);
    static_cast<void>(budget_bytes);
    fail(ErrorKind::kUnsupported,
         "backend {} cannot leave experts on disk; load the whole model, or use --backend cpu", info().name);
  }

  // Makes `step` the current one: validated by the caller, copied here. The header stays at one address.
  virtual const StepHeader* begin_step(const Step& step) = 0;

  // A backend may run the whole step in its own way and return true; false asks for the ops one by one.
  virtual bool encode_fused() { return false; }

  virtual void embed(const EmbedOp& op) = 0;
  virtual void gdn_project(const GdnProjectOp& op) = 0;
  virtual void gdn_mix(const GdnMixOp& op) = 0;
  virtual void gdn_output(const GdnOutputOp& op) = 0;
  virtual void attn_project(const AttnProjectOp& op) = 0;
  virtual void attn_mix(const AttnMixOp& op) = 0;
  virtual void attn_output(const AttnOutputOp& op) = 0;
  virtual void route(const RouteOp& op) = 0;
  virtual void experts_up(const ExpertsUpOp& op) = 0;
  virtual void experts_down(const ExpertsDownOp& op) = 0;
  virtual void head(const HeadOp& op) = 0;
  virtual void pick(const PickOp& op) = 0;
  // Copies `floats` f32 within device memory: a state slot to another.
  virtual void copy_state(float* to, const float* from, uint64_t floats) = 0;

  virtual void wait() = 0;
};

// Makes a backend for a shape: "reference", "cpu"; "auto" takes the fastest that this machine runs.
// Throws Error(kUnsupported) naming those this build has.
std::unique_ptr<Backend> make_backend(const std::string& name, ShapeId shape, const BackendOptions& options);

// The names that make_backend takes on this machine, best first.
std::vector<std::string> available_backends();

}  // namespace orfebre
