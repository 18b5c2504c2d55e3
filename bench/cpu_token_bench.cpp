// A whole token of the real model's shape on the CPU backend, through the real forward pass: decode and
// prefill tokens a second beside the read bandwidth measured in the same run. Weights are random and only 8
// of the 40 layers are distinct (4 GB in all), far more than any cache holds. Routing is what random weights
// give. Usage: bench_cpu_token [threads] [path] [rounds]; prints medians over the rounds, which alternate all
// lines.
#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/panels.h"
#include "base/thread_pool.h"
#include "model/forward.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>

namespace orfebre {
namespace {

constexpr int kDistinctLayers = 8;
constexpr int kPrefillRows = 512;
constexpr int kBlocks = 64;
constexpr int kSlots = 16;
constexpr double kBytesPerToken = 1.80e9;  // one sequence, short context

uint64_t next_random() {
  static uint64_t state = 0x9e3779b97f4a7c15ull;
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

// The tensors of a checkpoint, all cut from one pool of random bits.
class TensorPool {
 public:
  AffineTensor tensor(const MatrixSpec& spec, int bits) {
    const size_t weights = static_cast<size_t>(spec.n_matrices) * static_cast<size_t>(spec.n_out) *
                           static_cast<size_t>(spec.n_in);
    while (codes_.size() < weights * static_cast<size_t>(bits) / 32) {
      codes_.push_back(static_cast<uint32_t>(next_random()));
    }
    const float scale = 3.0f / (static_cast<float>(1 << bits) * std::sqrt(static_cast<float>(spec.n_in)));
    scales_.resize(std::max(scales_.size(), weights / 64));
    biases_.resize(scales_.size());
    for (size_t i = 0; i < weights / 64; ++i) {
      scales_[i] = to_bf16(scale);
      biases_[i] = to_bf16(-0.5f * scale * static_cast<float>((1 << bits) - 1));
    }
    return {spec.n_matrices, spec.n_out,     spec.n_in, bits,   codes_.data(),
            scales_.data(),  biases_.data(), nullptr,   nullptr};
  }

 private:
  std::vector<uint32_t> codes_;
  std::vector<bf16> scales_;
  std::vector<bf16> biases_;
};

class TokenBench {
 public:
  TokenBench(int threads, const std::string& path) {
    BackendOptions options;
    options.threads = threads;
    options.cpu_path = path;
    backend_ = make_cpu_backend(ShapeId::kQwen36, options);
    upload_weights();
    allocate_state();
  }

  const std::string& name() const { return backend_->info().name; }
  const Matrix& head() const { return weights_.head; }

  // One step: `n_sequences` sequences of one row each, or one sequence of many rows.
  void run(int n_sequences, int n_rows, int first_position) {
    Step step;
    step.kind = n_rows > kMaxDecodeRows ? StepKind::kPrefill : StepKind::kDecode;
    for (int s = 0; s < n_sequences; ++s) {
      step.sequences.push_back(
          {static_cast<int32_t>(step.rows.size()), n_rows, 0, s, kMaxLanes + s, n_rows, s});
      for (int i = 0; i < n_rows; ++i) {
        step.rows.push_back({static_cast<int32_t>(next_random() % 248000), first_position + i, s});
      }
      step.logit_rows.push_back(static_cast<int32_t>(step.rows.size()) - 1);
    }
    for (int block = 0; block < kBlocks; ++block) {
      step.block_tables.push_back(block);
    }
    encode_forward(*backend_, weights_, state_, activations_, backend_->begin_step(step), nullptr);
  }

 private:
  void upload_weights() {
    const ShapeInfo shape = backend_->shape();
    TensorPool pool;
    const auto upload = [&](const MatrixSpec& spec) {
      const bool eight = spec.role == MatrixRole::kRouter || spec.role == MatrixRole::kSharedGate;
      return backend_->upload_matrix(spec.role, pool.tensor(spec, eight ? 8 : 4));
    };
    weights_.layers.resize(static_cast<size_t>(shape.layers));
    for (const VectorSpec& spec : vector_specs(shape)) {
      std::vector<float> values(static_cast<size_t>(spec.size),
                                spec.role == VectorRole::kGdnALog ? -1.0f : 1.0f);
      store(spec, backend_->upload_vector(spec.role, values));
    }
    for (const MatrixSpec& spec : matrix_specs(shape)) {
      if (spec.layer < kDistinctLayers) {
        store(spec, upload(spec));
      }
    }
    for (size_t layer = kDistinctLayers; layer < weights_.layers.size(); ++layer) {
      weights_.layers[layer] = weights_.layers[layer % kDistinctLayers];
    }
  }

  void store(const MatrixSpec& spec, const Matrix& matrix) {
    if (spec.role == MatrixRole::kEmbedding || spec.role == MatrixRole::kHead) {
      (spec.role == MatrixRole::kHead ? weights_.head : weights_.embedding) = matrix;
      return;
    }
    LayerWeights& l = weights_.layers[static_cast<size_t>(spec.layer)];
    Matrix* const places[] = {nullptr,
                              nullptr,
                              &l.gdn.qkv,
                              &l.gdn.z,
                              &l.gdn.a,
                              &l.gdn.b,
                              &l.gdn.out,
                              &l.attn.q_gate,
                              &l.attn.k,
                              &l.attn.v,
                              &l.attn.out,
                              &l.moe.router,
                              &l.moe.shared_gate,
                              &l.moe.shared_up_gate,
                              &l.moe.shared_up,
                              &l.moe.shared_down,
                              &l.moe.expert_gate,
                              &l.moe.expert_up,
                              &l.moe.expert_down};
    *places[static_cast<size_t>(spec.role)] = matrix;
  }

  void store(const VectorSpec& spec, const float* vector) {
    if (spec.role == VectorRole::kFinalNorm) {
      weights_.final_norm = vector;
      return;
    }
    LayerWeights& l = weights_.layers[static_cast<size_t>(spec.layer)];
    const float** const places[] = {nullptr,     &l.input_norm,  &l.post_norm,
                                    &l.gdn.conv, &l.gdn.a_log,   &l.gdn.dt_bias,
                                    &l.gdn.norm, &l.attn.q_norm, &l.attn.k_norm};
    *places[static_cast<size_t>(spec.role)] = vector;
  }

  void allocate_state() {
    const ShapeInfo s = backend_->shape();
    const BackendInfo& info = backend_->info();
    const auto floats = [&](uint64_t per_row) {
      return static_cast<float*>(backend_->allocate(kPrefillRows * per_row * sizeof(float), "activations"));
    };
    for (int layer = 0; layer < s.attention_layers(); ++layer) {
      state_.kv_cache.push_back(backend_->allocate(kBlocks * info.kv_block_bytes, "KV cache"));
    }
    state_.slots =
        static_cast<float*>(backend_->allocate(kSlots * info.state_slot_floats * sizeof(float), "state"));
    state_.picked = static_cast<int32_t*>(backend_->allocate(64, "picked"));
    const auto hidden = static_cast<uint64_t>(s.hidden);
    const auto value_width = static_cast<uint64_t>(s.value_width());
    Activations& x = activations_;
    x.residual = floats(hidden);
    x.rope = floats(64);
    x.qkv = floats(static_cast<uint64_t>(s.conv_channels()));
    x.z = floats(value_width);
    x.a = floats(32);
    x.b = floats(32);
    x.q = floats(static_cast<uint64_t>(s.query_width()));
    x.gate = floats(static_cast<uint64_t>(s.query_width()));
    x.mixed = floats(value_width);
    x.normed = floats(hidden);
    x.expert_ids = reinterpret_cast<int32_t*>(floats(8));
    x.expert_weights = floats(8);
    x.shared_weight = floats(1);
    x.activated = floats(9 * 512);
    x.logits = static_cast<float*>(backend_->allocate(uint64_t{8} * 248320 * sizeof(float), "logits"));
  }

  std::unique_ptr<Backend> backend_;
  Weights weights_{};
  ModelState state_{};
  Activations activations_{};
};

// ORs a stream: the plainest reader there is; the compiler makes vector loads of it.
uint64_t read_all(const uint64_t* from, uint64_t words) {
  uint64_t any[32] = {};
  for (uint64_t at = 0; at + 32 <= words; at += 32) {
    for (uint64_t ahead = 512; ahead < 544; ahead += 8) {
      __builtin_prefetch(from + at + ahead);
    }
    for (uint64_t i = 0; i < 32; ++i) {
      any[i] |= from[at + i];
    }
  }
  return std::accumulate(std::begin(any), std::end(any), uint64_t{0}, std::bit_or<>());
}

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Line {
  std::string name;
  std::string unit;
  double amount;  // of the unit a run
  std::function<void()> work;
  std::vector<double> rates;
};

int run_bench(int threads, const std::string& path, int rounds) {
  TokenBench bench(threads, path);
  ThreadPool pool(threads);
  const uint64_t head_bytes = cpu::panels_bytes(248320, Qwen36::kHidden, 4);
  const auto read = [&] {
    pool.run(pool.size(), [&](int64_t begin, int64_t, int) {
      const uint64_t words = head_bytes / 8 / static_cast<uint64_t>(pool.size());
      volatile uint64_t sink = read_all(
          static_cast<const uint64_t*>(bench.head().codes) + static_cast<uint64_t>(begin) * words, words);
      static_cast<void>(sink);
    });
  };
  std::vector<Line> lines = {
      {"read bandwidth", "GB/s", static_cast<double>(head_bytes) / 1e9, read, {}},
      {"decode, 1 sequence", "tok/s", 1, [&] { bench.run(1, 1, 100); }, {}},
      {"decode, 4 sequences", "tok/s", 4, [&] { bench.run(4, 1, 100); }, {}},
      {"prefill of 512", "tok/s", kPrefillRows, [&] { bench.run(1, kPrefillRows, 0); }, {}}};
  for (int round = 0; round < rounds; ++round) {
    for (Line& line : lines) {
      line.rates.push_back(line.amount / seconds(line.work));
    }
  }
  std::printf("%s, %d rounds\n", bench.name().c_str(), rounds);
  for (Line& line : lines) {
    std::sort(line.rates.begin(), line.rates.end());
    std::printf("%-22s median %8.2f  best %8.2f %s\n", line.name.c_str(), line.rates[line.rates.size() / 2],
                line.rates.back(), line.unit.c_str());
  }
  const double share = lines[1].rates.back() * kBytesPerToken / 1e9 / lines[0].rates.back();
  std::printf("decode reads %.1f GB/s at best: %.0f %% of the read bandwidth\n",
              lines[1].rates.back() * kBytesPerToken / 1e9, 100 * share);
  return 0;
}

}  // namespace
}  // namespace orfebre

int main(int argc, char** argv) {
  return orfebre::run_bench(argc > 1 ? std::atoi(argv[1]) : 0, argc > 2 ? argv[2] : "",
                            argc > 3 ? std::atoi(argv[3]) : 9);
}
