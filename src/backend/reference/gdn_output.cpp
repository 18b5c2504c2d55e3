// Gated DeltaNet, last part: x += Wout mixed.
#include "backend/reference/arithmetic.h"
#include "backend/reference/ops.h"

namespace orfebre::reference {

void gdn_output(const ShapeInfo&, const GdnOutputOp& op) {
  add_linear(op.residual, op.out, op.mixed, op.step->n_rows);
}

}  // namespace orfebre::reference
