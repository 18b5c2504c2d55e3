// The residual stream starts as the token's row of the embedding, unscaled; and the rotary table of the step:
// angle_i = position * theta^(-2i/64), i = 0..31 (docs/model.md, "Full attention"). Text tokens have three
// equal M-RoPE positions, which is plain RoPE.
#include "backend/reference/arithmetic.h"
#include "backend/reference/ops.h"

namespace orfebre::reference {
namespace {

// cosines [32], then sines [32]; double, because the angle of position 262,143 has no f32 to spare.
void rotary_row(float* rope, int position, int rotary_dims) {
  const int half = rotary_dims / 2;
  for (int i = 0; i < half; ++i) {
    const double frequency = std::pow(CommonShape::kRopeTheta, -2.0 * i / rotary_dims);
    const double angle = position * frequency;
    rope[i] = static_cast<float>(std::cos(angle));
    rope[half + i] = static_cast<float>(std::sin(angle));
  }
}

}  // namespace

void embed(const ShapeInfo& shape, const EmbedOp& op) {
  for (int r = 0; r < op.step->n_rows; ++r) {
    const StepRow& row = op.step->rows[r];
    const int lane = op.step->sequences[row.sequence].lane;
    const int token = row.token == kTokenFromPick ? op.picked[lane] : row.token;
    dequantise_row(op.residual + r * shape.hidden, op.embedding, 0, token);
    rotary_row(op.rope + r * shape.rotary_dims, row.position, shape.rotary_dims);
  }
}

}  // namespace orfebre::reference
