// What the CPU backend's ops reach on this machine: GB/s of weights at decode beside the plain read
// bandwidth, GMAC/s at prefill. All ops run through the Backend interface on full-size shapes with random
// weights, so what is measured is what a token costs. Usage: bench_cpu_kernels [--benchmark_filter=...];
// compare lines of one run only, best with --benchmark_enable_random_interleaving=true
// --benchmark_repetitions=5.
#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/panels.h"
#include "backend/cpu/paths.h"
#include "base/thread_pool.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>

namespace orfebre {
namespace {

using benchmark::Counter;

constexpr int kHidden = Qwen36::kHidden;
constexpr uint64_t kStateFloats = 32 * 128 * 128 + 3 * 8192;  // one layer

uint64_t next_random() {
  static uint64_t state = 0x9e3779b97f4a7c15ull;
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

// A random affine tensor; scales around 0.01, biases around -8 scales.
struct RandomTensor {
  std::vector<uint32_t> codes;
  std::vector<bf16> scales;
  std::vector<bf16> biases;
  AffineTensor view;

  RandomTensor(int n_matrices, int n_out, int n_in, int bits) {
    const size_t weights =
        static_cast<size_t>(n_matrices) * static_cast<size_t>(n_out) * static_cast<size_t>(n_in);
    codes.resize(weights * static_cast<size_t>(bits) / 32);
    for (size_t i = 0; i + 2 <= codes.size(); i += 2) {
      const uint64_t word = next_random();
      codes[i] = static_cast<uint32_t>(word);
      codes[i + 1] = static_cast<uint32_t>(word >> 32);
    }
    for (size_t i = 0; i < weights / 64; ++i) {
      const float scale = 0.01f + 1e-4f * static_cast<float>(next_random() % 64);
      scales.push_back(to_bf16(scale));
      biases.push_back(to_bf16(-7.5f * scale));
    }
    view = {n_matrices, n_out, n_in, bits, codes.data(), scales.data(), biases.data(), nullptr, nullptr};
  }
};

float* random_floats(Backend& backend, uint64_t count) {
  auto* const values = static_cast<float*>(backend.allocate(count * sizeof(float), "activations"));
  for (uint64_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(next_random() % 2001) / 1000.0f - 1.0f;
  }
  return values;
}

// What the measured ops need. The layouts do not depend on the instruction set or the number of threads, so
// one set of weights serves every backend.
struct Bench {
  std::unique_ptr<Backend> owner = make_cpu_backend(ShapeId::kQwen36, {});
  std::map<std::pair<std::string, int>, std::unique_ptr<Backend>> backends;
  Backend* backend = nullptr;  // the one being measured
  Matrix head, qkv, z, a, b, gate, up, down, shared_gate, shared_up, shared_down;
  float *residual, *norm, *logits, *activated, *weights, *out, *state;
  uint8_t* cache;
  int32_t* ids;

  static constexpr int kMaxRows = 512;
  static constexpr int kMaxBlocks = 512;

  Bench() {
    const auto upload = [&](MatrixRole role, int n, int n_out, int n_in) {
      return owner->upload_matrix(role, RandomTensor(n, n_out, n_in, 4).view);
    };
    head = upload(MatrixRole::kHead, 1, 248320, kHidden);
    qkv = upload(MatrixRole::kGdnQkv, 1, 8192, kHidden);
    z = upload(MatrixRole::kGdnZ, 1, 4096, kHidden);
    a = upload(MatrixRole::kGdnA, 1, 32, kHidden);
    b = upload(MatrixRole::kGdnB, 1, 32, kHidden);
    gate = upload(MatrixRole::kExpertGate, 256, 512, kHidden);
    up = upload(MatrixRole::kExpertUp, 256, 512, kHidden);
    down = upload(MatrixRole::kExpertDown, 256, kHidden, 512);
    shared_gate = upload(MatrixRole::kSharedUpGate, 1, 512, kHidden);
    shared_up = upload(MatrixRole::kSharedUp, 1, 512, kHidden);
    shared_down = upload(MatrixRole::kSharedDown, 1, kHidden, 512);
    residual = random_floats(*owner, uint64_t{kMaxRows} * kHidden);
    norm = random_floats(*owner, kHidden);
    logits = random_floats(*owner, uint64_t{8} * 248320);
    activated = random_floats(*owner, uint64_t{kMaxRows} * 9 * 512);
    weights = random_floats(*owner, uint64_t{kMaxRows} * 9);
    out = random_floats(*owner, uint64_t{kMaxRows} * 12352);
    state = random_floats(*owner, 2 * kStateFloats);
    cache = static_cast<uint8_t*>(owner->allocate(kMaxBlocks * owner->info().kv_block_bytes, "KV cache"));
    for (uint64_t i = 0; i < kMaxBlocks * owner->info().kv_block_bytes / 2; ++i) {
      reinterpret_cast<f16*>(cache)[i] = to_f16(static_cast<float>(i % 1999) / 1000.0f - 1.0f);
    }
    ids = static_cast<int32_t*>(owner->allocate(kMaxRows * 8 * sizeof(int32_t), "ids"));
  }

  void use(const std::string& path, int threads) {
    std::unique_ptr<Backend>& entry = backends[{path, threads}];
    if (!entry) {
      BackendOptions options;
      options.cpu_path = path;
      options.threads = threads;
      entry = make_cpu_backend(ShapeId::kQwen36, options);
    }
    backend = entry.get();
  }

  // `n_rows` rows of one sequence that end at position `context`.
  const StepHeader* step(int n_rows, int context = kMaxRows) {
    Step step;
    step.kind = n_rows > kMaxDecodeRows ? StepKind::kPrefill : StepKind::kDecode;
    for (int i = 0; i < n_rows; ++i) {
      step.rows.push_back({1, context - n_rows + i, 0});
    }
    step.sequences.push_back({0, n_rows, 0, kNoState, 0, n_rows, 0});
    for (int block = 0; block < kMaxBlocks; ++block) {
      step.block_tables.push_back(block);
    }
    for (int i = 0; i < n_rows && i < kMaxDecodeRows; ++i) {
      step.logit_rows.push_back(i);
    }
    return backend->begin_step(step);
  }

  // New random experts for every row; returns how many distinct ones.
  int route(int n_rows) {
    std::vector<bool> used(256, false);
    for (int row = 0; row < n_rows; ++row) {
      for (int slot = 0; slot < 8; ++slot) {
        bool again = true;
        while (again) {
          ids[row * 8 + slot] = static_cast<int32_t>(next_random() >> 16) & 255;
          again = std::find(ids + row * 8, ids + row * 8 + slot, ids[row * 8 + slot]) != ids + row * 8 + slot;
        }
        used[static_cast<size_t>(ids[row * 8 + slot])] = true;
      }
    }
    return static_cast<int>(std::count(used.begin(), used.end(), true));
  }
};

Bench& bench_of(const std::string& path, int threads) {
  static Bench bench;
  bench.use(path, threads);
  return bench;
}

uint64_t bytes_of(const Matrix& m, int n_matrices) {
  return static_cast<uint64_t>(n_matrices) * cpu::panels_bytes(m.n_out, m.n_in, m.bits);
}

void report(benchmark::State& state, double bytes, double macs) {
  const double n = static_cast<double>(state.iterations());
  state.counters["GB/s"] = Counter(bytes * n / 1e9, Counter::kIsRate);
  state.counters["GMAC/s"] = Counter(macs * n / 1e9, Counter::kIsRate);
}

// Reads the head's bytes with plain vector loads: the bandwidth that decoding is measured against.
uint64_t read_all(const uint8_t* from, uint64_t bytes) {
  constexpr int kStreams = 4;
  const uint64_t part = bytes / kStreams / 256 * 256;
  uint64_t sum[32] = {};
  for (uint64_t at = 0; at < part; at += 256) {
    for (int s = 0; s < kStreams; ++s) {
      const auto* const words =
          reinterpret_cast<const uint64_t*>(from + static_cast<uint64_t>(s) * part + at);
      __builtin_prefetch(words + 512);
      __builtin_prefetch(words + 520);
      __builtin_prefetch(words + 528);
      __builtin_prefetch(words + 536);
      for (int i = 0; i < 32; ++i) {
        sum[i] |= words[i];
      }
    }
  }
  uint64_t any = 0;
  for (const uint64_t word : sum) {
    any |= word;
  }
  return any;
}

void read_bandwidth(benchmark::State& state, const std::string& path, int threads) {
  Bench& bench = bench_of(path, threads);
  ThreadPool pool(threads);
  const uint64_t bytes = bytes_of(bench.head, 1);
  for (auto _ : state) {
    pool.run(threads, [&](int64_t begin, int64_t, int) {
      const uint64_t part = bytes / static_cast<uint64_t>(threads);
      benchmark::DoNotOptimize(read_all(
          static_cast<const uint8_t*>(bench.head.codes) + static_cast<uint64_t>(begin) * part, part));
    });
  }
  report(state, static_cast<double>(bytes), 0);
}

void head(benchmark::State& state, const std::string& path, int threads, int n_rows) {
  Bench& bench = bench_of(path, threads);
  const StepHeader* step = bench.step(n_rows);
  for (auto _ : state) {
    bench.backend->head({step, bench.residual, bench.norm, bench.head, bench.logits});
  }
  report(state, static_cast<double>(bytes_of(bench.head, 1)), 248320.0 * kHidden * n_rows);
}

void gdn_project(benchmark::State& state, const std::string& path, int threads, int n_rows) {
  Bench& bench = bench_of(path, threads);
  const StepHeader* step = bench.step(n_rows);
  for (auto _ : state) {
    bench.backend->gdn_project({step, bench.residual, bench.norm, bench.qkv, bench.z, bench.a, bench.b,
                                bench.out, bench.out + n_rows * 8192, bench.out + n_rows * 12288,
                                bench.out + n_rows * 12320});
  }
  report(state, static_cast<double>(bytes_of(bench.qkv, 1) + bytes_of(bench.z, 1)),
         12352.0 * kHidden * n_rows);
}

void experts(benchmark::State& state, const std::string& path, int threads, int n_rows) {
  Bench& bench = bench_of(path, threads);
  const StepHeader* step = bench.step(n_rows);
  double distinct = 0;
  for (auto _ : state) {
    distinct += bench.route(n_rows);
    bench.backend->experts_up({step, bench.residual, bench.ids, bench.gate, bench.up, bench.shared_gate,
                               bench.shared_up, bench.activated});
    bench.backend->experts_down({step, bench.activated, bench.ids, bench.weights, bench.weights, bench.down,
                                 bench.shared_down, bench.out});
  }
  const double each =
      static_cast<double>(2 * cpu::panels_bytes(512, kHidden, 4) + cpu::panels_bytes(kHidden, 512, 4));
  report(state, each * (distinct / static_cast<double>(state.iterations()) + 1),
         9.0 * 3 * 512 * kHidden * n_rows);
}

// Bytes are the state's, read and written.
void gdn_mix(benchmark::State& state, const std::string& path, int threads, int n_rows) {
  Bench& bench = bench_of(path, threads);
  const StepHeader* step = bench.step(n_rows);
  for (auto _ : state) {
    bench.backend->gdn_mix({step, bench.out, bench.out, bench.residual, bench.residual, bench.out, bench.norm,
                            bench.norm, bench.norm, bench.state, bench.state + 32 * 128 * 128, kStateFloats,
                            bench.activated});
  }
  report(state, 8.0 * kStateFloats, 3.0 * 32 * 128 * 128 * n_rows);
}

// A row at the end of `context` positions. Bytes are those of keys and values.
void attn_mix(benchmark::State& state, const std::string& path, int threads, int context) {
  Bench& bench = bench_of(path, threads);
  const StepHeader* step = bench.step(1, context);
  for (auto _ : state) {
    bench.backend->attn_mix({step, bench.residual, bench.residual, bench.cache, bench.out});
  }
  report(state, 2048.0 * context, 2.0 * 16 * 256 * context);
}

void attn_mix_prefill(benchmark::State& state, const std::string& path, int threads, int context) {
  Bench& bench = bench_of(path, threads);
  const StepHeader* step = bench.step(128, context);
  for (auto _ : state) {
    bench.backend->attn_mix({step, bench.out, bench.out, bench.cache, bench.activated});
  }
  report(state, 2048.0 * context, 128 * 2.0 * 16 * 256 * (context - 64));
}

void register_all() {
  using Function = void (*)(benchmark::State&, const std::string&, int, int);
  const std::pair<const char*, Function> ops[] = {
      {"head", head}, {"gdn_project", gdn_project}, {"experts", experts}, {"gdn_mix", gdn_mix}};
  for (const cpu::Path& path : cpu::paths()) {
    if (!path.runs_here()) {
      continue;
    }
    for (const int threads : {1, 2}) {
      const std::string suffix = std::string("/") + path.name + "/threads:" + std::to_string(threads);
      const std::string name = path.name;
      benchmark::RegisterBenchmark(("read" + suffix).c_str(), [=](benchmark::State& s) {
        read_bandwidth(s, name, threads);
      })->UseRealTime();
      for (const int context : {512, 4096, 32768}) {
        benchmark::RegisterBenchmark(("attn_mix" + suffix + "/context:" + std::to_string(context)).c_str(),
                                     [=](benchmark::State& s) { attn_mix(s, name, threads, context); })
            ->UseRealTime();
        benchmark::RegisterBenchmark(
            ("attn_mix_prefill" + suffix + "/context:" + std::to_string(context)).c_str(),
            [=](benchmark::State& s) { attn_mix_prefill(s, name, threads, context); })
            ->UseRealTime();
      }
      for (const auto& entry : ops) {
        const char* const op = entry.first;
        const Function function = entry.second;
        for (const int rows : {1, 2, 4, 8, 64, 512}) {
          if (function == head && rows > 8) {
            continue;
          }
          benchmark::RegisterBenchmark((std::string(op) + suffix + "/rows:" + std::to_string(rows)).c_str(),
                                       [=](benchmark::State& s) { function(s, name, threads, rows); })
              ->UseRealTime();
        }
      }
    }
  }
}

}  // namespace
}  // namespace orfebre

int main(int argc, char** argv) {
  orfebre::register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
