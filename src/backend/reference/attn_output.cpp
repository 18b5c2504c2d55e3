// Gated attention, last part: x += Wo mixed.
#include "backend/reference/arithmetic.h"
#include "backend/reference/ops.h"

namespace orfebre::reference {

void attn_output(const ShapeInfo&, const AttnOutputOp& op) {
  add_linear(op.residual, op.out, op.mixed, op.step->n_rows);
}

}  // namespace orfebre::reference
