// Gated attention, first part (docs/model.md, "Full attention"): u = norm(x); Wq u holds, head by head, 256
// query values and then 256 gate values; q and k are normed per head, then rotated; k and v go into the
// cache.
#include "backend/reference/arithmetic.h"
#include "backend/reference/kv_layout.h"
#include "backend/reference/ops.h"

#include <algorithm>

namespace orfebre::reference {
namespace {

constexpr int kHeadDim = CommonShape::kHeadDim;
constexpr int kHalf = CommonShape::kRotaryDims / 2;

// Rotates the pairs (i, i + 32) of the first 64 dimensions; the other 192 pass through.
void rotate(float* head, const float* rope) {
  for (int i = 0; i < kHalf; ++i) {
    const float cosine = rope[i];
    const float sine = rope[kHalf + i];
    const float first = head[i];
    const float second = head[i + kHalf];
    head[i] = first * cosine - second * sine;
    head[i + kHalf] = second * cosine + first * sine;
  }
}

void norm_and_rotate(float* out, const float* head, const float* weight, const float* rope) {
  rms_norm(out, head, weight, kHeadDim);
  rotate(out, rope);
}

}  // namespace

void attn_project(const ShapeInfo& shape, const AttnProjectOp& op) {
  const StepHeader& step = *op.step;
  const std::vector<float> u = normed_rows(op.residual, op.norm, step.n_rows, shape.hidden);
  const auto buffer = [&](int width) {
    return std::vector<float>(static_cast<size_t>(step.n_rows) * static_cast<size_t>(width));
  };
  std::vector<float> q_gate = buffer(2 * shape.query_width());
  std::vector<float> k = buffer(shape.kv_width());
  std::vector<float> v = buffer(shape.kv_width());
  linear(q_gate.data(), op.q_gate, u.data(), step.n_rows);
  linear(k.data(), op.k, u.data(), step.n_rows);
  linear(v.data(), op.v, u.data(), step.n_rows);

  float* const cache = static_cast<float*>(op.kv_cache);
  for (int r = 0; r < step.n_rows; ++r) {
    const StepRow& row = step.rows[r];
    const float* rope = op.rope + r * shape.rotary_dims;
    for (int head = 0; head < shape.query_heads; ++head) {
      const float* source = q_gate.data() + (r * shape.query_heads + head) * 2 * kHeadDim;
      const int target = (r * shape.query_heads + head) * kHeadDim;
      norm_and_rotate(op.q_out + target, source, op.q_norm, rope);
      std::copy_n(source + kHeadDim, kHeadDim, op.gate_out + target);
    }
    const KvRow cached = kv_row(step, step.sequences[row.sequence], row.position);
    for (int head = 0; head < shape.kv_heads; ++head) {
      const int source = (r * shape.kv_heads + head) * kHeadDim;
      norm_and_rotate(cache + cached.k + head * kHeadDim, k.data() + source, op.k_norm, rope);
      std::copy_n(v.data() + source, kHeadDim, cache + cached.v + head * kHeadDim);
    }
  }
}

}  // namespace orfebre::reference
