// Mixture of experts, routing (docs/model.md, "Mixture of experts"): u = norm(x); p = softmax(Wrouter u) over
// all experts; the 8 largest, divided by their sum; the shared expert's weight is sigmoid(w u).
#include "backend/reference/arithmetic.h"
#include "backend/reference/ops.h"

#include <algorithm>

namespace orfebre::reference {
namespace {

void softmax(std::vector<float>& values) {
  const float largest = *std::max_element(values.begin(), values.end());
  float total = 0.0f;
  for (float& value : values) {
    value = std::exp(value - largest);
    total += value;
  }
  for (float& value : values) {
    value /= total;
  }
}

// The largest value's index among those not `taken`, ties to the lower: an expert's index whatever the values
// are, NaN included.
int take_largest(const std::vector<float>& values, std::vector<bool>& taken) {
  const auto first_free = std::find(taken.begin(), taken.end(), false);
  size_t best = static_cast<size_t>(first_free - taken.begin());
  for (size_t i = best + 1; i < values.size(); ++i) {
    if (!taken[i] && values[i] > values[best]) {
      best = i;
    }
  }
  taken[best] = true;
  return static_cast<int>(best);
}

}  // namespace

void route(const ShapeInfo& shape, const RouteOp& op) {
  const int n_rows = op.step->n_rows;
  const int n_active = shape.active_experts;
  for (int r = 0; r < n_rows; ++r) {
    float* const u = op.normed + r * shape.hidden;
    rms_norm(u, op.residual + r * shape.hidden, op.norm, shape.hidden);

    std::vector<float> probabilities(static_cast<size_t>(shape.experts));
    linear(probabilities.data(), op.router, u, 1);
    softmax(probabilities);
    std::vector<bool> taken(probabilities.size(), false);
    float total = 0.0f;
    for (int slot = 0; slot < n_active; ++slot) {
      const int expert = take_largest(probabilities, taken);
      op.expert_ids[r * n_active + slot] = expert;
      op.expert_weights[r * n_active + slot] = probabilities[static_cast<size_t>(expert)];
      total += probabilities[static_cast<size_t>(expert)];
    }
    for (int slot = 0; slot < n_active; ++slot) {
      op.expert_weights[r * n_active + slot] /= total;
    }

    float shared_logit = 0.0f;
    linear(&shared_logit, op.shared_gate, u, 1);
    op.shared_weight[r] = sigmoid(shared_logit);
  }
}

}  // namespace orfebre::reference
