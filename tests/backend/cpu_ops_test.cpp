// Each op of the CPU backend against the reference backend on the same random inputs, outputs poisoned first.
#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/panels.h"
#include "backend/op_inputs.h"
#include "backend/reference/reference_backend.h"
#include "support/closeness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace orfebre::test {
namespace {

// 15-bit activations: about 3e-5 a product; the bar leaves room for the largest of many outputs.
constexpr double kProductTolerance = 2e-4;

// The two backends side by side: index 0 is the reference, 1 the CPU backend.
struct Twins {
  std::array<std::unique_ptr<Backend>, 2> backends;
  std::array<const StepHeader*, 2> step{};
  Random random;

  Twins(ShapeId shape, uint32_t seed) : random(seed) {
    BackendOptions options;
    options.threads = 2;
    backends[0] = make_reference_backend(shape, options);
    backends[1] = make_cpu_backend(shape, options);
  }
  const ShapeInfo& shape() const { return backends[0]->shape(); }
  void begin(const Step& s) {
    for (size_t i = 0; i < 2; ++i) {
      step[i] = backends[i]->begin_step(s);
    }
  }
  std::array<Matrix, 2> matrix(MatrixRole role, int n_matrices, int n_out, int n_in, int bits = 4) {
    const RandomTensor tensor(random, n_matrices, n_out, n_in, bits);
    return {backends[0]->upload_matrix(role, tensor.view), backends[1]->upload_matrix(role, tensor.view)};
  }
  std::array<const float*, 2> vector(VectorRole role, const std::vector<float>& values) {
    return {backends[0]->upload_vector(role, values), backends[1]->upload_vector(role, values)};
  }
};

// An output of both, poisoned before the op.
struct Output {
  std::array<std::vector<float>, 2> values;
  explicit Output(int rows, int width) {
    values.fill(std::vector<float>(static_cast<size_t>(rows) * static_cast<size_t>(width), kPoison));
  }
  float* operator[](size_t i) { return values[i].data(); }
  double difference() const { return relative_difference(values[1], values[0]); }
};

struct Case {
  ShapeId shape;
  int n_rows;
};

class CpuOps : public ::testing::TestWithParam<Case> {
 protected:
  int n_rows() const { return GetParam().n_rows; }
  Twins twins{GetParam().shape, 1000u + static_cast<uint32_t>(GetParam().n_rows)};
  const ShapeInfo& s = twins.shape();
  size_t floats(int width) const { return static_cast<size_t>(n_rows()) * static_cast<size_t>(width); }
};

TEST_P(CpuOps, Embed) {
  for (const int bits : {4, 8}) {
    const auto embedding = twins.matrix(MatrixRole::kEmbedding, 1, s.vocab, s.hidden, bits);
    twins.begin(one_sequence(n_rows(), 70, true));
    Output residual(n_rows(), s.hidden);
    Output rope(n_rows(), s.rotary_dims);
    const int32_t picked[kMaxLanes] = {};
    for (size_t i = 0; i < 2; ++i) {
      twins.backends[i]->embed({twins.step[i], picked, embedding[i], residual[i], rope[i]});
    }
    EXPECT_LT(residual.difference(), 1e-6);
    EXPECT_LT(rope.difference(), 1e-6);
  }
}

TEST_P(CpuOps, GdnProject) {
  const auto qkv = twins.matrix(MatrixRole::kGdnQkv, 1, s.conv_channels(), s.hidden);
  const auto z = twins.matrix(MatrixRole::kGdnZ, 1, s.value_width(), s.hidden, 8);
  const auto a = twins.matrix(MatrixRole::kGdnA, 1, s.value_heads, s.hidden);
  const auto b = twins.matrix(MatrixRole::kGdnB, 1, s.value_heads, s.hidden);
  const std::vector<float> residual = twins.random.floats(floats(s.hidden), 5.0f);
  const std::vector<float> norm = twins.random.floats(static_cast<size_t>(s.hidden), 0.2f, 1.0f);
  twins.begin(one_sequence(n_rows(), 0, true));
  Output qkv_out(n_rows(), s.conv_channels());
  Output z_out(n_rows(), s.value_width());
  Output a_out(n_rows(), s.value_heads);
  Output b_out(n_rows(), s.value_heads);
  for (size_t i = 0; i < 2; ++i) {
    twins.backends[i]->gdn_project({twins.step[i], residual.data(), norm.data(), qkv[i], z[i], a[i], b[i],
                                    qkv_out[i], z_out[i], a_out[i], b_out[i]});
  }
  for (const Output* out : {&qkv_out, &z_out, &a_out, &b_out}) {
    EXPECT_LT(out->difference(), kProductTolerance);
  }
}

// The CPU backend's delta state in the order [heads, 128, 128] of the reference.
std::vector<float> in_reference_order(const float* state, int heads) {
  std::vector<float> out(static_cast<size_t>(heads) * cpu::kDeltaHeadFloats);
  for (int head = 0; head < heads; ++head) {
    for (int key = 0; key < 128; ++key) {
      for (int value = 0; value < 128; ++value) {
        const int at = head * cpu::kDeltaHeadFloats;
        out[static_cast<size_t>(at + key * 128 + value)] =
            state[at + value / 32 * cpu::kStripFloats + key * 32 + value % 32];
      }
    }
  }
  return out;
}

TEST_P(CpuOps, GdnMix) {
  const auto conv = twins.vector(VectorRole::kGdnConv,
                                 twins.random.floats(static_cast<size_t>(s.conv_channels()) * 4, 0.5f));
  std::vector<float> a_log;
  for (int head = 0; head < s.value_heads; ++head) {  // rates from very slow to so fast that the decay is 0
    a_log.push_back(-6.0f + 12.0f * static_cast<float>(head) / static_cast<float>(s.value_heads));
  }
  const std::vector<float> dt_bias = twins.random.floats(static_cast<size_t>(s.value_heads));
  const std::vector<float> norm = twins.random.floats(128, 0.2f, 1.0f);
  std::array<std::vector<float>, 2> slots;
  slots.fill(std::vector<float>(3 * twins.backends[1]->info().state_slot_floats, kPoison));
  // From zero into slot 1, then, on other inputs, from there into slot 2.
  for (int part = 0; part < 2; ++part) {
    const std::vector<float> qkv = twins.random.floats(floats(s.conv_channels()));
    const std::vector<float> z = twins.random.floats(floats(s.value_width()), 2.0f);
    const std::vector<float> a = twins.random.floats(floats(s.value_heads), 3.0f);
    const std::vector<float> b = twins.random.floats(floats(s.value_heads), 3.0f);
    Step step = one_sequence(n_rows(), part * n_rows(), part == 0);
    step.sequences[0].state_in = part == 0 ? kNoState : 1;
    step.sequences[0].state_out = part + 1;
    twins.begin(step);
    Output mixed(n_rows(), s.value_width());
    for (size_t i = 0; i < 2; ++i) {
      const BackendInfo& info = twins.backends[i]->info();
      twins.backends[i]->gdn_mix({twins.step[i], qkv.data(), z.data(), a.data(), b.data(), conv[i],
                                  a_log.data(), dt_bias.data(), norm.data(), slots[i].data(),
                                  slots[i].data() + info.delta_layer_floats, info.state_slot_floats,
                                  mixed[i]});
    }
    EXPECT_LT(mixed.difference(), 3e-5) << "part " << part;
    const BackendInfo& info = twins.backends[1]->info();
    const size_t slot = info.state_slot_floats * static_cast<size_t>(part + 1);
    const std::vector<float> state = in_reference_order(slots[1].data() + slot, s.value_heads);
    EXPECT_LT(relative_difference(state, std::span(slots[0]).subspan(slot, info.delta_layer_floats)), 1e-5);
    const size_t conv_at = slot + info.delta_layer_floats;
    EXPECT_EQ(relative_difference(std::span(slots[1]).subspan(conv_at, info.conv_layer_floats),
                                  std::span(slots[0]).subspan(conv_at, info.conv_layer_floats)),
              0.0);
  }
}

TEST_P(CpuOps, Outputs) {
  const auto gdn_out = twins.matrix(MatrixRole::kGdnOut, 1, s.hidden, s.value_width());
  const auto attn_out = twins.matrix(MatrixRole::kAttnOut, 1, s.hidden, s.query_width(), 8);
  const std::vector<float> gdn_mixed = twins.random.floats(floats(s.value_width()));
  const std::vector<float> attn_mixed = twins.random.floats(floats(s.query_width()));
  twins.begin(one_sequence(n_rows(), 0, true));
  Output residual(n_rows(), s.hidden);
  residual.values[0] = residual.values[1] = twins.random.floats(floats(s.hidden));
  for (size_t i = 0; i < 2; ++i) {
    twins.backends[i]->gdn_output({twins.step[i], gdn_mixed.data(), gdn_out[i], residual[i]});
    twins.backends[i]->attn_output({twins.step[i], attn_mixed.data(), attn_out[i], residual[i]});
  }
  EXPECT_LT(residual.difference(), kProductTolerance);
}

TEST_P(CpuOps, Attention) {
  const auto q_gate = twins.matrix(MatrixRole::kAttnQ, 1, 2 * s.query_width(), s.hidden);
  const auto k = twins.matrix(MatrixRole::kAttnK, 1, s.kv_width(), s.hidden);
  const auto v = twins.matrix(MatrixRole::kAttnV, 1, s.kv_width(), s.hidden);
  const std::vector<float> norm = twins.random.floats(static_cast<size_t>(s.hidden), 0.2f, 1.0f);
  const std::vector<float> q_norm = twins.random.floats(256, 0.3f, 1.5f);
  const std::vector<float> k_norm = twins.random.floats(256, 0.3f, 1.5f);
  const auto embedding = twins.matrix(MatrixRole::kEmbedding, 1, s.vocab, s.hidden);
  // Two steps of one sequence: the second reads the first one's keys and values, and starts inside a block.
  std::array<std::vector<uint8_t>, 2> cache;
  for (size_t i = 0; i < 2; ++i) {
    cache[i].assign(8 * twins.backends[i]->info().kv_block_bytes, 0xff);  // NaN in f16 and f32
  }
  for (int part = 0; part < 2; ++part) {
    const std::vector<float> residual = twins.random.floats(floats(s.hidden));
    Step step = one_sequence(n_rows(), part * n_rows(), true);
    step.block_tables = {5, 2, 7, 0, 1, 3, 4, 6};
    twins.begin(step);
    Output embedded(n_rows(), s.hidden);
    Output rope(n_rows(), s.rotary_dims);
    Output q(n_rows(), s.query_width());
    Output gate(n_rows(), s.query_width());
    Output mixed(n_rows(), s.query_width());
    const int32_t picked[kMaxLanes] = {};
    for (size_t i = 0; i < 2; ++i) {
      Backend& backend = *twins.backends[i];
      backend.embed({twins.step[i], picked, embedding[i], embedded[i], rope[i]});
      backend.attn_project({twins.step[i], residual.data(), norm.data(), rope[i], q_gate[i], k[i], v[i],
                            q_norm.data(), k_norm.data(), q[i], gate[i], cache[i].data()});
    }
    EXPECT_LT(q.difference(), kProductTolerance);
    EXPECT_LT(gate.difference(), kProductTolerance);
    for (size_t i = 0; i < 2; ++i) {
      twins.backends[i]->attn_mix({twins.step[i], q[0], gate[0], cache[i].data(), mixed[i]});
    }
    EXPECT_LT(mixed.difference(), 2e-3) << "part " << part;  // keys and values are f16
  }
}

TEST_P(CpuOps, Experts) {
  const auto router = twins.matrix(MatrixRole::kRouter, 1, s.experts, s.hidden, 8);
  const auto shared_router = twins.matrix(MatrixRole::kSharedGate, 1, 1, s.hidden, 8);
  const auto gate = twins.matrix(MatrixRole::kExpertGate, s.experts, s.expert_width, s.hidden);
  const auto up = twins.matrix(MatrixRole::kExpertUp, s.experts, s.expert_width, s.hidden, 8);
  const auto down = twins.matrix(MatrixRole::kExpertDown, s.experts, s.hidden, s.expert_width);
  const auto shared_gate = twins.matrix(MatrixRole::kSharedUpGate, 1, s.expert_width, s.hidden);
  const auto shared_up = twins.matrix(MatrixRole::kSharedUp, 1, s.expert_width, s.hidden);
  const auto shared_down = twins.matrix(MatrixRole::kSharedDown, 1, s.hidden, s.expert_width, 8);
  const std::vector<float> norm = twins.random.floats(static_cast<size_t>(s.hidden), 0.2f, 1.0f);
  const std::vector<float> start = twins.random.floats(floats(s.hidden));
  twins.begin(one_sequence(n_rows(), 0, true));
  Output normed(n_rows(), s.hidden);
  Output weights(n_rows(), 8);
  Output shared_weight(n_rows(), 1);
  Output activated(n_rows(), 9 * s.expert_width);
  Output residual(n_rows(), s.hidden);
  residual.values[0] = residual.values[1] = start;
  std::array<std::vector<int32_t>, 2> ids;
  ids.fill(std::vector<int32_t>(floats(8), -1));
  for (size_t i = 0; i < 2; ++i) {
    twins.backends[i]->route({twins.step[i], start.data(), norm.data(), router[i], shared_router[i],
                              normed[i], ids[i].data(), weights[i], shared_weight[i]});
  }
  EXPECT_LT(normed.difference(), 1e-6);
  EXPECT_LT(shared_weight.difference(), kProductTolerance);
  size_t n_equal = 0;
  for (size_t i = 0; i < ids[0].size(); ++i) {
    n_equal += ids[0][i] == ids[1][i] ? 1u : 0u;
    ids[1][i] = ids[0][i];  // from here on both take the reference's routing
  }
  EXPECT_GE(static_cast<double>(n_equal), 0.98 * static_cast<double>(ids[0].size()));
  if (n_equal == ids[0].size()) {
    EXPECT_LT(weights.difference(), kProductTolerance);
  }
  for (size_t i = 0; i < 2; ++i) {
    twins.backends[i]->experts_up({twins.step[i], normed[0], ids[0].data(), gate[i], up[i], shared_gate[i],
                                   shared_up[i], activated[i]});
  }
  EXPECT_LT(activated.difference(), 2 * kProductTolerance);  // a product of two
  for (size_t i = 0; i < 2; ++i) {
    twins.backends[i]->experts_down({twins.step[i], activated[0], ids[0].data(), weights[0], shared_weight[0],
                                     down[i], shared_down[i], residual[i]});
  }
  EXPECT_LT(residual.difference(), kProductTolerance);
}

TEST_P(CpuOps, Head) {
  const auto head = twins.matrix(MatrixRole::kHead, 1, s.vocab, s.hidden);
  const std::vector<float> norm = twins.random.floats(static_cast<size_t>(s.hidden), 0.2f, 1.0f);
  const std::vector<float> residual = twins.random.floats(floats(s.hidden));
  const Step step = one_sequence(n_rows(), 0, true);
  twins.begin(step);
  Output logits(static_cast<int>(step.logit_rows.size()), s.vocab);
  for (size_t i = 0; i < 2; ++i) {
    twins.backends[i]->head({twins.step[i], residual.data(), norm.data(), head[i], logits[i]});
  }
  EXPECT_LT(logits.difference(), kProductTolerance);
}

// With more threads than rows and KV heads the blocks of a row are shared out, in windows.
TEST(CpuOpsLongContext, SplittingARowsBlocksDoesNotChangeABit) {
  constexpr int kBlocks = 131;
  constexpr int kPositions[] = {8380, 4095, 63};  // the third window, the end of the first, one block
  Random random(77);
  std::vector<f16> cache(kBlocks * cpu::kKvBlockBytes / sizeof(f16));
  for (f16& value : cache) {
    value = to_f16(static_cast<float>(random.below(2001)) / 1000.0f - 1.0f);
  }
  const std::vector<float> q = random.floats(3 * 4096, 0.5f);
  const std::vector<float> gate = random.floats(3 * 4096);
  std::vector<float> expected;
  for (const int threads : {1, 2, 3, 8, 16}) {
    BackendOptions options;
    options.threads = threads;
    const std::unique_ptr<Backend> backend = make_cpu_backend(ShapeId::kProbe, options);
    Step step;
    for (int i = 0; i < 3; ++i) {
      step.rows.push_back({1, kPositions[i], i});
      step.sequences.push_back({i, 1, 0, kNoState, i, 1, i});
    }
    for (int block = 0; block < kBlocks; ++block) {
      step.block_tables.push_back(kBlocks - 1 - block);
    }
    std::vector<float> mixed(3 * 4096, kPoison);
    backend->attn_mix({backend->begin_step(step), q.data(), gate.data(), cache.data(), mixed.data()});
    if (expected.empty()) {
      expected = mixed;
      EXPECT_EQ(std::count_if(mixed.begin(), mixed.end(), [](float x) { return std::isfinite(x); }),
                3 * 4096);
    }
    EXPECT_EQ(mixed, expected) << threads << " threads";
  }
}

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const int n_rows : {1, 2, 7, 64, 200}) {
    list.push_back({ShapeId::kProbe, n_rows});
    list.push_back({ShapeId::kDemo, n_rows});
  }
  return list;
}

INSTANTIATE_TEST_SUITE_P(Rows, CpuOps, ::testing::ValuesIn(cases()), [](const auto& one) {
  return (one.param.shape == ShapeId::kProbe ? "Probe" : "Demo") + std::to_string(one.param.n_rows);
});

// A matrix of the real model's size against f64 sums in this test.
TEST(CpuOpsFullSize, ProductOfARealMatrix) {
  Random random(5);
  for (const int bits : {4, 8}) {
    const std::unique_ptr<Backend> backend = make_cpu_backend(ShapeId::kQwen36, {});
    const RandomTensor tensor(random, 1, Qwen36::kHidden, 4096, bits);
    const Matrix matrix = backend->upload_matrix(MatrixRole::kGdnOut, tensor.view);
    const std::vector<float> mixed = random.floats(3 * 4096);
    std::vector<float> actual = random.floats(3 * Qwen36::kHidden);
    std::vector<float> expected = actual;
    for (int row = 0; row < 3; ++row) {
      for (int out = 0; out < Qwen36::kHidden; ++out) {
        double sum = 0;
        for (int in = 0; in < 4096; ++in) {
          sum += tensor.at(0, out, in) * static_cast<double>(mixed[static_cast<size_t>(row * 4096 + in)]);
        }
        expected[static_cast<size_t>(row * Qwen36::kHidden + out)] += static_cast<float>(sum);
      }
    }
    const StepHeader* step = backend->begin_step(one_sequence(3, 0, true));
    backend->gdn_output({step, mixed.data(), matrix, actual.data()});
    EXPECT_LT(relative_difference(actual, expected), 1e-4) << bits << " bits";
  }
}

}  // namespace
}  // namespace orfebre::test
