// Mixture of experts, first products: activated = silu(G u) * (U u), for each of a row's 8 experts and, in
// slot 8, the shared one. Expert by expert, so that a matrix is dequantised once for all rows that chose it.
#include "backend/reference/arithmetic.h"
#include "backend/reference/ops.h"

namespace orfebre::reference {
namespace {

// out[i] [expert_width] = silu(gate in[i]) * (up in[i]).
void swiglu(const std::vector<float*>& out, const Matrix& gate, const Matrix& up, int which,
            const std::vector<const float*>& in) {
  const int width = gate.n_out;
  std::vector<float> ups(in.size() * static_cast<size_t>(width));
  const std::vector<float*> up_rows = rows_of(ups.data(), static_cast<int>(in.size()), width);
  linear(out, gate, which, in);
  linear(up_rows, up, which, in);
  for (size_t i = 0; i < in.size(); ++i) {
    for (int j = 0; j < width; ++j) {
      out[i][j] = silu(out[i][j]) * up_rows[i][j];
    }
  }
}

}  // namespace

void experts_up(const ShapeInfo& shape, const ExpertsUpOp& op) {
  const int n_rows = op.step->n_rows;
  const int n_active = shape.active_experts;
  const auto activated = [&](int row, int slot) {
    return op.activated + (row * (n_active + 1) + slot) * shape.expert_width;
  };
  std::vector<const float*> in;
  std::vector<float*> out;
  for (int expert = 0; expert < shape.experts; ++expert) {
    in.clear();
    out.clear();
    for (int r = 0; r < n_rows; ++r) {
      for (int slot = 0; slot < n_active; ++slot) {
        if (op.expert_ids[r * n_active + slot] == expert) {
          in.push_back(op.normed + r * shape.hidden);
          out.push_back(activated(r, slot));
        }
      }
    }
    swiglu(out, op.gate, op.up, expert, in);
  }
  in.clear();
  out.clear();
  for (int r = 0; r < n_rows; ++r) {
    in.push_back(op.normed + r * shape.hidden);
    out.push_back(activated(r, n_active));
  }
  swiglu(out, op.shared_gate, op.shared_up, 0, in);
}

}  // namespace orfebre::reference
