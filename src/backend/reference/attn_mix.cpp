// Gated attention, middle part (docs/model.md, "Full attention"): over the positions 0..p of the row's
// sequence, mixed = softmax(q k / sqrt(256)) v * sigmoid(gate). Query head h reads KV head h / 8.
#include "backend/reference/arithmetic.h"
#include "backend/reference/kv_layout.h"
#include "backend/reference/ops.h"

#include <algorithm>

namespace orfebre::reference {
namespace {

constexpr int kHeadDim = CommonShape::kHeadDim;

// out [256] for one query head of one row.
void attend(float* out, const StepHeader& step, const StepRow& row, const float* q, const float* cache,
            int kv_head) {
  const StepSequence& sequence = step.sequences[row.sequence];
  const int n_positions = row.position + 1;
  const float scale = 1.0f / std::sqrt(static_cast<float>(kHeadDim));
  std::vector<float> weights(static_cast<size_t>(n_positions));
  float largest = -INFINITY;
  for (int p = 0; p < n_positions; ++p) {
    const float* k = cache + kv_row(step, sequence, p).k + kv_head * kHeadDim;
    weights[static_cast<size_t>(p)] = dot(q, k, kHeadDim) * scale;
    largest = std::max(largest, weights[static_cast<size_t>(p)]);
  }
  float total = 0.0f;
  for (float& weight : weights) {
    weight = std::exp(weight - largest);
    total += weight;
  }
  std::fill_n(out, kHeadDim, 0.0f);
  for (int p = 0; p < n_positions; ++p) {
    const float* v = cache + kv_row(step, sequence, p).v + kv_head * kHeadDim;
    const float probability = weights[static_cast<size_t>(p)] / total;
    for (int i = 0; i < kHeadDim; ++i) {
      out[i] += probability * v[i];
    }
  }
}

}  // namespace

void attn_mix(const ShapeInfo& shape, const AttnMixOp& op) {
  const float* const cache = static_cast<const float*>(op.kv_cache);
  const int heads_per_kv_head = shape.query_heads / shape.kv_heads;
  for (int r = 0; r < op.step->n_rows; ++r) {
    for (int head = 0; head < shape.query_heads; ++head) {
      const int at = (r * shape.query_heads + head) * kHeadDim;
      float* const out = op.mixed + at;
      attend(out, *op.step, op.step->rows[r], op.q + at, cache, head / heads_per_kv_head);
      for (int i = 0; i < kHeadDim; ++i) {
        out[i] *= sigmoid(op.gate[at + i]);
      }
    }
  }
}

}  // namespace orfebre::reference
