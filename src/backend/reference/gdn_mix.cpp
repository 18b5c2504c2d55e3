// Gated DeltaNet, middle part, per sequence and in the order of its tokens (docs/model.md, "Gated DeltaNet"):
//
//   c_t = silu(sum_j w_j m_{t-3+j})     causal convolution over the last 4 rows of m = qkv, by channel
//   q, k = l2norm of the key head's parts of c_t; q also divided by sqrt(128)
//   beta = sigmoid(b), decay = exp(-exp(A_log) softplus(a + dt_bias))
//   S <- decay S;  d = beta (v - S^T k);  S <- S + k d^T;  o = S^T q     per value head h, key head h / 2
//   mixed = rms_norm(o) * w * silu(z)
//
// S [128 (key), 128 (value)] is f32 for ever. The convolution's state is the last 3 rows of m, before SiLU.
#include "backend/reference/arithmetic.h"
#include "backend/reference/ops.h"

#include <algorithm>

namespace orfebre::reference {
namespace {

constexpr int kHeadDim = CommonShape::kDeltaHeadDim;
constexpr int kTaps = CommonShape::kConvTaps;
constexpr int kHistory = kTaps - 1;

// One sequence of the step: its rows of the op's buffers and its state slots.
struct SequenceView {
  int n_rows;
  int accepted_rows;
  const float* qkv;             // [n_rows, conv_channels]
  const float* z;               // [n_rows, value_width]
  const float* a;               // [n_rows, value_heads]
  const float* b;               // [n_rows, value_heads]
  float* mixed;                 // [n_rows, value_width]
  const float* delta_state_in;  // [value_heads, 128, 128], null: starts from zero
  const float* conv_state_in;   // [3, conv_channels], oldest first, null: starts from zero
  float* delta_state_out;
  float* conv_state_out;
};

SequenceView view_of(const ShapeInfo& shape, const GdnMixOp& op, const StepSequence& sequence) {
  const int first = sequence.first_row;
  const bool fresh = sequence.state_in == kNoState;
  const int64_t in = static_cast<int64_t>(op.slot_stride) * sequence.state_in;
  const int64_t out = static_cast<int64_t>(op.slot_stride) * sequence.state_out;
  return {sequence.n_rows,
          sequence.accepted_rows,
          op.qkv + first * shape.conv_channels(),
          op.z + first * shape.value_width(),
          op.a + first * shape.value_heads,
          op.b + first * shape.value_heads,
          op.mixed + first * shape.value_width(),
          fresh ? nullptr : op.delta_state + in,
          fresh ? nullptr : op.conv_state + in,
          op.delta_state + out,
          op.conv_state + out};
}

// Rows of m with the three before them in front: [3 + n_rows, conv_channels].
std::vector<float> with_history(const SequenceView& s, int channels) {
  std::vector<float> rows(static_cast<size_t>(kHistory + s.n_rows) * static_cast<size_t>(channels), 0.0f);
  if (s.conv_state_in != nullptr) {
    std::copy_n(s.conv_state_in, kHistory * channels, rows.data());
  }
  std::copy_n(s.qkv, s.n_rows * channels, rows.data() + kHistory * channels);
  return rows;
}

// out [n_rows, conv_channels]; weight [conv_channels, 4], tap 3 on the current row.
std::vector<float> convolve(const std::vector<float>& rows, const float* weight, int n_rows, int channels) {
  std::vector<float> out(static_cast<size_t>(n_rows) * static_cast<size_t>(channels));
  for (int t = 0; t < n_rows; ++t) {
    for (int c = 0; c < channels; ++c) {
      float sum = 0.0f;
      for (int tap = 0; tap < kTaps; ++tap) {
        sum += weight[c * kTaps + tap] * rows[static_cast<size_t>((t + tap) * channels + c)];
      }
      out[static_cast<size_t>(t * channels + c)] = silu(sum);
    }
  }
  return out;
}

// out = x * scale / sqrt(sum(x^2) + epsilon): the sum, not the mean. A zero vector stays zero.
void l2_norm(float* out, const float* x, float scale, float epsilon) {
  const float factor = 1.0f / std::sqrt(dot(x, x, kHeadDim) + epsilon) * scale;
  for (int i = 0; i < kHeadDim; ++i) {
    out[i] = x[i] * factor;
  }
}

// out [128] = S^T x, S [128, 128] with rows by key.
void read_state(float* out, const float* state, const float* x) {
  std::fill_n(out, kHeadDim, 0.0f);
  for (int i = 0; i < kHeadDim; ++i) {
    for (int j = 0; j < kHeadDim; ++j) {
      out[j] += state[i * kHeadDim + j] * x[i];
    }
  }
}

// One token of one value head: S is updated, out [128] = S^T q.
void delta_rule(float* out, float* state, const float* q, const float* k, const float* v, float decay,
                float beta) {
  for (int i = 0; i < kHeadDim * kHeadDim; ++i) {
    state[i] *= decay;
  }
  float recalled[kHeadDim];
  read_state(recalled, state, k);
  float delta[kHeadDim];
  for (int j = 0; j < kHeadDim; ++j) {
    delta[j] = beta * (v[j] - recalled[j]);
  }
  for (int i = 0; i < kHeadDim; ++i) {
    for (int j = 0; j < kHeadDim; ++j) {
      state[i * kHeadDim + j] += k[i] * delta[j];
    }
  }
  read_state(out, state, q);
}

// All tokens of one value head: state_out is the state after `accepted_rows` of them.
void run_head(const ShapeInfo& shape, const GdnMixOp& op, const SequenceView& s, int head,
              const std::vector<float>& convolved, float l2_epsilon) {
  const int key_head = head / (shape.value_heads / shape.key_heads);
  std::vector<float> state(kHeadDim * kHeadDim, 0.0f);
  if (s.delta_state_in != nullptr) {
    std::copy_n(s.delta_state_in + head * kHeadDim * kHeadDim, state.size(), state.data());
  }
  const float query_scale = 1.0f / std::sqrt(static_cast<float>(kHeadDim));
  for (int t = 0; t < s.n_rows; ++t) {
    const float* c = convolved.data() + t * shape.conv_channels();
    const float* v = c + 2 * shape.key_width() + head * kHeadDim;
    float q[kHeadDim];
    float k[kHeadDim];
    l2_norm(q, c + key_head * kHeadDim, query_scale, l2_epsilon);
    l2_norm(k, c + shape.key_width() + key_head * kHeadDim, 1.0f, l2_epsilon);
    const float a = s.a[t * shape.value_heads + head];
    const float beta = sigmoid(s.b[t * shape.value_heads + head]);
    const float log_decay = -std::exp(op.a_log[head]) * softplus(a + op.dt_bias[head]);
    float o[kHeadDim];
    delta_rule(o, state.data(), q, k, v, std::exp(log_decay), beta);

    const float* z = s.z + t * shape.value_width() + head * kHeadDim;
    float* mixed = s.mixed + t * shape.value_width() + head * kHeadDim;
    rms_norm(mixed, o, op.norm, kHeadDim);
    for (int i = 0; i < kHeadDim; ++i) {
      mixed[i] *= silu(z[i]);
    }
    if (t + 1 == s.accepted_rows) {
      std::copy(state.begin(), state.end(), s.delta_state_out + head * kHeadDim * kHeadDim);
    }
  }
}

}  // namespace

void gdn_mix(const ShapeInfo& shape, const GdnMixOp& op, float l2_epsilon) {
  const int channels = shape.conv_channels();
  for (int i = 0; i < op.step->n_sequences; ++i) {
    const SequenceView s = view_of(shape, op, op.step->sequences[i]);
    const std::vector<float> rows = with_history(s, channels);
    const std::vector<float> convolved = convolve(rows, op.conv_weight, s.n_rows, channels);
    for (int head = 0; head < shape.value_heads; ++head) {
      run_head(shape, op, s, head, convolved, l2_epsilon);
    }
    std::copy_n(rows.data() + s.accepted_rows * channels, kHistory * channels, s.conv_state_out);
  }
}

}  // namespace orfebre::reference
