// Gated DeltaNet, first part: u = norm(x); qkv = Wqkv u, z = Wz u, a = Wa u, b = Wb u.
#include "backend/reference/arithmetic.h"
#include "backend/reference/ops.h"

namespace orfebre::reference {

void gdn_project(const ShapeInfo& shape, const GdnProjectOp& op) {
  const int n_rows = op.step->n_rows;
  const std::vector<float> u = normed_rows(op.residual, op.norm, n_rows, shape.hidden);
  linear(op.qkv_out, op.qkv, u.data(), n_rows);
  linear(op.z_out, op.z, u.data(), n_rows);
  linear(op.a_out, op.a, u.data(), n_rows);
  linear(op.b_out, op.b, u.data(), n_rows);
}

}  // namespace orfebre::reference
