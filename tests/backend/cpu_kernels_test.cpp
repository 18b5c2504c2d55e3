// Single kernels of each instruction set that this machine has: accuracy, equality of the sets bit for bit,
// and behaviour on NaN.
#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/paths.h"
#include "backend/op_inputs.h"
#include "base/error.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <set>
#include <stdexcept>

namespace orfebre::cpu {
namespace {

using test::Random;

std::vector<const Kernels*> kernel_sets() {
  std::vector<const Kernels*> sets;
  for (const Path& path : paths()) {
    if (path.runs_here()) {
      sets.push_back(&path.kernels());
    }
  }
  EXPECT_FALSE(sets.empty());
  return sets;
}

TEST(CpuKernels, SigmoidIsAccurateEverywhereAndKeepsNaN) {
  for (const Kernels* kernels : kernel_sets()) {
    for (double x = -85; x < 85; x += 0.37) {
      std::vector<float> values(16, static_cast<float>(x));
      kernels->sigmoid(values.data(), 16);
      const double expected = 1.0 / (1.0 + std::exp(-static_cast<double>(static_cast<float>(x))));
      EXPECT_NEAR(values[7] / expected, 1.0, 4e-7) << kernels->name << " at " << x;
    }
    std::vector<float> special(16, 0.0f);
    special[0] = INFINITY;
    special[1] = -INFINITY;
    special[2] = std::nanf("");
    kernels->sigmoid(special.data(), 16);
    EXPECT_EQ(special[0], 1.0f);
    EXPECT_NEAR(special[1], 0.0f, 1e-37f);
    EXPECT_TRUE(std::isnan(special[2]));
    EXPECT_EQ(special[3], 0.5f);
  }
}

// The sum of e^x over a few values gives e^x itself to within 2 units in the last place.
TEST(CpuKernels, ExponentialIsAccurate) {
  for (const Kernels* kernels : kernel_sets()) {
    double worst = 0;
    for (int i = 0; i < 20000; ++i) {
      const float x = -87.0f + 0.0087f * static_cast<float>(i);
      const double expected = std::exp(static_cast<double>(x));
      worst = std::max(worst, std::abs(kernels->sum_exp(&x, 1, 0.0f, 1.0f) / expected - 1.0));
    }
    EXPECT_LT(worst, 2 * 0x1p-23) << kernels->name;
    const float zero = 0.0f;
    EXPECT_EQ(kernels->sum_exp(&zero, 1, 0.0f, 1.0f), 1.0);
    const float low = -200.0f;
    EXPECT_EQ(kernels->sum_exp(&low, 1, 0.0f, 1.0f), 0.0);
  }
}

TEST(CpuKernels, QuantisedRowsAreWithinHalfAStep) {
  Random random(3);
  std::vector<float> x = random.floats(256, 2.0f);
  std::fill(x.begin() + 64, x.begin() + 128, 0.0f);  // a group of zeros
  x[200] = 100.0f;                                   // an outlier
  for (const Kernels* kernels : kernel_sets()) {
    std::vector<uint8_t> row(quantized_row_bytes(256));
    kernels->quantize(row.data(), x.data(), 256);
    float scales[8];
    std::memcpy(scales, row.data() + quantized_codes_bytes(256), sizeof(scales));
    for (int i = 0; i < 256; ++i) {
      const int group = i / 64;
      const auto high = static_cast<int8_t>(row[static_cast<size_t>(group * 128 + i % 64)]);
      const auto low = static_cast<int8_t>(row[static_cast<size_t>(group * 128 + 64 + i % 64)]);
      EXPECT_GE(low, -64);
      EXPECT_LE(low, 63);
      EXPECT_NEAR(scales[group] * static_cast<float>(128 * high + low), x[static_cast<size_t>(i)],
                  0.501f * scales[group]);
    }
    for (int group = 0; group < 4; ++group) {
      double sum = 0;
      for (int i = 0; i < 64; ++i) {
        sum += static_cast<double>(x[static_cast<size_t>(group * 64 + i)]);
      }
      EXPECT_NEAR(scales[4 + group], sum, 1e-4);
    }
  }
}

TEST(CpuKernels, RouterTakesTheLargestTiesToTheLowerAndSurvivesNaN) {
  Random random(9);
  for (const Kernels* kernels : kernel_sets()) {
    std::vector<float> logits = random.floats(64, 0.1f);
    for (const int id : {63, 5, 40}) {
      logits[static_cast<size_t>(id)] = 2.0f;
    }
    logits[20] = 3.0f;
    int32_t ids[8];
    float weights[8];
    std::vector<float> copy = logits;
    kernels->top_experts(ids, weights, copy.data(), 64);
    EXPECT_EQ(std::vector<int32_t>(ids, ids + 4), (std::vector<int32_t>{20, 5, 40, 63}));
    EXPECT_EQ(std::set<int32_t>(ids, ids + 8).size(), 8u);
    EXPECT_NEAR(
        weights[0] + weights[1] + weights[2] + weights[3] + weights[4] + weights[5] + weights[6] + weights[7],
        1.0f, 1e-6f);
    EXPECT_NEAR(weights[0] / weights[1], std::exp(1.0f), 1e-5f);

    for (const float bad : {std::nanf(""), INFINITY}) {
      for (const bool all : {false, true}) {
        copy = logits;
        copy[33] = bad;
        if (all) {
          std::fill(copy.begin(), copy.end(), bad);
        }
        kernels->top_experts(ids, weights, copy.data(), 64);
        EXPECT_EQ(std::set<int32_t>(ids, ids + 8).size(), 8u);
        for (int i = 0; i < 8; ++i) {
          EXPECT_GE(ids[i], 0);
          EXPECT_LT(ids[i], 64);
          EXPECT_TRUE(std::isnan(weights[i]));
        }
      }
    }
  }
}

// One small product and its quantised column, in a process of its own; true when the processor ran it.
bool executes(const Kernels& kernels) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit no_core{0, 0};  // it may well crash
    ::setrlimit(RLIMIT_CORE, &no_core);
    const std::vector<float> x(kGroup, 1.0f);
    const std::vector<uint8_t> panel(panel_bytes(kGroup, 4));
    std::vector<uint8_t> row(quantized_row_bytes(kGroup));
    std::vector<float> out(kPanelRows);
    kernels.quantize(row.data(), x.data(), kGroup);
    kernels.project({panel.data(), 4, kGroup, kPanelRows, row.data(), 0, 1, out.data(), 0, false}, 0, 1);
    ::_exit(0);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) {
    throw std::runtime_error("cannot run a child process");
  }
  EXPECT_TRUE(WIFEXITED(status) || WTERMSIG(status) == SIGILL) << kernels.name;
  return WIFEXITED(status);
}

TEST(CpuPaths, AreThoseThatTheProcessorExecutesTheBestFirst) {
  const Path* best = nullptr;
  for (const Path& path : paths()) {
    EXPECT_EQ(path.runs_here(), executes(path.kernels())) << path.name;
    best = best == nullptr && path.runs_here() ? &path : best;
  }
  ASSERT_NE(best, nullptr);
  EXPECT_EQ(best_path(), best);
  EXPECT_EQ(&choose_kernels(""), &best->kernels());
}

// A wrong expert id never addresses memory: the row becomes NaN, its neighbours stay as they are.
TEST(CpuBackend, AnExpertIdOutOfRangeFailsItsRowOnly) {
  Random random(21);
  const std::unique_ptr<Backend> backend = make_cpu_backend(ShapeId::kProbe, {});
  const auto upload = [&](MatrixRole role, int n, int n_out, int n_in) {
    return backend->upload_matrix(role, test::RandomTensor(random, n, n_out, n_in, 4).view);
  };
  const Matrix gate = upload(MatrixRole::kExpertGate, 64, 256, 512);
  const Matrix up = upload(MatrixRole::kExpertUp, 64, 256, 512);
  const Matrix down = upload(MatrixRole::kExpertDown, 64, 512, 256);
  const Matrix shared_gate = upload(MatrixRole::kSharedUpGate, 1, 256, 512);
  const Matrix shared_up = upload(MatrixRole::kSharedUp, 1, 256, 512);
  const Matrix shared_down = upload(MatrixRole::kSharedDown, 1, 512, 256);
  const std::vector<float> normed = random.floats(3 * 512);
  const std::vector<float> weights(3 * 9, 0.1f);
  std::vector<int32_t> ids = {0,  1,  2,  3,  4, 5, 6, 7, 8, 9,  10, 11,
                              12, 13, 14, 15, 0, 2, 4, 6, 8, 10, 12, 14};
  const StepHeader* step = backend->begin_step(test::one_sequence(3, 0, true));
  const auto run = [&] {
    std::vector<float> activated(3 * 9 * 256, test::kPoison);
    std::vector<float> residual(3 * 512, 1.0f);
    backend->experts_up(
        {step, normed.data(), ids.data(), gate, up, shared_gate, shared_up, activated.data()});
    backend->experts_down({step, activated.data(), ids.data(), weights.data(), weights.data(), down,
                           shared_down, residual.data()});
    return residual;
  };
  const std::vector<float> good = run();
  for (const int32_t bad : {-1, 64, INT32_MAX, INT32_MIN}) {
    ids[11] = bad;
    const std::vector<float> residual = run();
    EXPECT_TRUE(std::equal(good.begin(), good.begin() + 512, residual.begin()));
    EXPECT_TRUE(std::isnan(residual[512]) && std::isnan(residual[1023]));
    EXPECT_TRUE(std::equal(good.begin() + 1024, good.end(), residual.begin() + 1024));
  }
}

TEST(CpuBackend, RefusesWhatItCannotMultiplyAndPathsItLacks) {
  const std::unique_ptr<Backend> backend = make_cpu_backend(ShapeId::kProbe, {});
  EXPECT_FALSE(backend->info().takes_dense);
  std::vector<float> dense(64 * 64);
  AffineTensor tensor;
  tensor.n_out = tensor.n_in = 64;
  tensor.bits = 32;
  tensor.dense_f32 = dense.data();
  EXPECT_THROW(backend->upload_matrix(MatrixRole::kGdnOut, tensor), Error);
  EXPECT_THROW(backend->matrix_bytes({MatrixRole::kGdnOut, 0, 1, 64, 64}, 16), Error);
  BackendOptions options;
  options.cpu_path = "avx1024";
  EXPECT_THROW(make_cpu_backend(ShapeId::kProbe, options), Error);
  for (const Path& path : paths()) {
    options.cpu_path = path.name;
    if (path.runs_here()) {
      EXPECT_NE(make_cpu_backend(ShapeId::kProbe, options)->info().name.find(path.kernels().name),
                std::string::npos);
    } else {
      EXPECT_THROW(make_cpu_backend(ShapeId::kProbe, options), Error);
    }
  }
  options.cpu_path = "";
  options.threads = -3;
  EXPECT_THROW(make_cpu_backend(ShapeId::kProbe, options), Error);
}

TEST(CpuBackend, PlansTheBytesThatItTakes) {
  const std::unique_ptr<Backend> backend = make_cpu_backend(ShapeId::kProbe, {});
  // 17 rows take two panels of 16; 4.5 bits a weight.
  EXPECT_EQ(backend->matrix_bytes({MatrixRole::kGdnOut, 0, 3, 17, 128}, 4), 3u * 2 * 16 * 128 * 9 / 16);
  EXPECT_EQ(backend->matrix_bytes({MatrixRole::kEmbedding, -1, 1, 17, 128}, 8), 17u * (128 + 8));
  EXPECT_THROW(static_cast<void>(backend->allocate(uint64_t{1} << 60, "KV cache")), Error);
}

}  // namespace
}  // namespace orfebre::cpu
