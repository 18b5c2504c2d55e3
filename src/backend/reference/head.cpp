// logits = Whead norm(x), for the rows that need them.
#include "backend/reference/arithmetic.h"
#include "backend/reference/ops.h"

namespace orfebre::reference {

void head(const ShapeInfo& shape, const HeadOp& op) {
  const StepHeader& step = *op.step;
  std::vector<float> normed(static_cast<size_t>(step.n_logit_rows) * static_cast<size_t>(shape.hidden));
  for (int i = 0; i < step.n_logit_rows; ++i) {
    const float* x = op.residual + step.logit_rows[i] * shape.hidden;
    rms_norm(normed.data() + i * shape.hidden, x, op.norm, shape.hidden);
  }
  linear(op.logits, op.head, normed.data(), step.n_logit_rows);
}

}  // namespace orfebre::reference
