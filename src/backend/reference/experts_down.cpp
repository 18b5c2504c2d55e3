// Mixture of experts, last products: x += sum over slots of weight_s D_s activated_s + shared_weight D_shared
// activated_8. The products are made expert by expert, the sum is taken in the order of the slots.
#include "backend/reference/arithmetic.h"
#include "backend/reference/ops.h"

namespace orfebre::reference {

void experts_down(const ShapeInfo& shape, const ExpertsDownOp& op) {
  const int n_rows = op.step->n_rows;
  const int n_active = shape.active_experts;
  const int n_slots = n_active + 1;
  std::vector<float> products(static_cast<size_t>(n_rows * n_slots) * static_cast<size_t>(shape.hidden));
  std::vector<const float*> in;
  std::vector<float*> out;
  const auto add_slot = [&](int row, int slot) {
    in.push_back(op.activated + (row * n_slots + slot) * shape.expert_width);
    out.push_back(products.data() + (row * n_slots + slot) * shape.hidden);
  };
  for (int expert = 0; expert < shape.experts; ++expert) {
    in.clear();
    out.clear();
    for (int r = 0; r < n_rows; ++r) {
      for (int slot = 0; slot < n_active; ++slot) {
        if (op.expert_ids[r * n_active + slot] == expert) {
          add_slot(r, slot);
        }
      }
    }
    linear(out, op.down, expert, in);
  }
  in.clear();
  out.clear();
  for (int r = 0; r < n_rows; ++r) {
    add_slot(r, n_active);
  }
  linear(out, op.shared_down, 0, in);

  for (int r = 0; r < n_rows; ++r) {
    const float* product = products.data() + r * n_slots * shape.hidden;
    for (int i = 0; i < shape.hidden; ++i) {
      float sum = 0.0f;
      for (int slot = 0; slot < n_active; ++slot) {
        sum += op.expert_weights[r * n_active + slot] * product[slot * shape.hidden + i];
      }
      op.residual[r * shape.hidden + i] += sum + op.shared_weight[r] * product[n_active * shape.hidden + i];
    }
  }
}

}  // namespace orfebre::reference
