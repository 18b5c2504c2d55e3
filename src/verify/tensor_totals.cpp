#include "verify/tensor_totals.h"

#include "checkpoint/affine.h"

namespace orfebre {
namespace {

uint64_t values_of(const MatrixSpec& spec) {
  return static_cast<uint64_t>(spec.n_matrices) * static_cast<uint64_t>(spec.n_out) *
         static_cast<uint64_t>(spec.n_in);
}

uint64_t affine_bytes(const MatrixSpec& spec, int bits) {
  return values_of(spec) * static_cast<uint64_t>(bits) / 8 +
         values_of(spec) / kAffineGroupSize * 2 * sizeof(bf16);
}

// Tensors under the names of this matrix that the files have.
void add_matrix(TensorTotals& totals, const Checkpoint& checkpoint, const MatrixSpec& spec) {
  const Naming& naming = checkpoint.convention().naming;
  const std::string module = module_path(naming, spec.role, spec.layer);
  for (const std::string& name :
       {dense_tensor_name(naming, spec.role, spec.layer), module + ".scales", module + ".biases"}) {
    // Fused experts: gate and up are one tensor, counted with gate.
    const bool counted_already = naming.fused_experts && spec.role == MatrixRole::kExpertUp;
    if (const TensorInfo* tensor = checkpoint.files().find(name); tensor != nullptr && !counted_already) {
      ++totals.n_text_tensors;
      totals.text_bytes += tensor->size_bytes;
    }
  }
}

}  // namespace

TensorTotals count_tensors(const Checkpoint& checkpoint) {
  TensorTotals totals;
  totals.n_files = static_cast<int>(checkpoint.files().files().size());
  totals.n_tensors = static_cast<int>(checkpoint.files().tensors().size());
  totals.tensor_bytes = checkpoint.files().total_bytes();
  totals.converted = checkpoint.convention().converted;
  for (const MatrixSpec& spec : matrix_specs(checkpoint.shape())) {
    add_matrix(totals, checkpoint, spec);
    ++totals.matrices_by_bits[checkpoint.matrix_bits(spec)];
    totals.public_text_tensors += 3;
    totals.public_text_bytes += affine_bytes(spec, default_bits(spec.role));
  }
  for (const VectorSpec& spec : vector_specs(checkpoint.shape())) {
    const TensorInfo& tensor = checkpoint.vector_tensor(spec);
    ++totals.n_text_tensors;
    totals.text_bytes += tensor.size_bytes;
    ++totals.public_text_tensors;
    totals.public_text_bytes += static_cast<uint64_t>(spec.size) * sizeof(bf16);
    if (spec.role == VectorRole::kGdnALog) {
      totals.a_log_dtype = dtype_name(tensor.dtype);
    }
  }
  return totals;
}

}  // namespace orfebre
