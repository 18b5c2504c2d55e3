// The CPU backend's memory: weights that arrive in parts, scratch against its plan, experts that stay on
// disk.
#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/cpu_ops.h"
#include "backend/cpu/expert_cache.h"
#include "backend/op_inputs.h"
#include "base/error.h"
#include "support/random_weights.h"
#include "support/sequence.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

namespace orfebre::test {
namespace {

std::unique_ptr<Backend> cpu(ShapeId shape, int threads) {
  BackendOptions options;
  options.threads = threads;
  return make_cpu_backend(shape, options);
}

// Rows first.. of a tensor of one matrix or a stack, as a source would hand them over.
AffineTensor rows_of(const AffineTensor& whole, int first, int count) {
  AffineTensor part = whole;
  part.n_matrices = 1;
  part.n_out = count;
  part.codes += static_cast<int64_t>(first) * whole.n_in * whole.bits / 32;
  part.scales += static_cast<int64_t>(first) * whole.n_in / 64;
  part.biases += static_cast<int64_t>(first) * whole.n_in / 64;
  return part;
}

TEST(CpuUpload, PartsInAnyOrderGiveTheBytesOfTheWhole) {
  Random random(31);
  const std::unique_ptr<Backend> backend = cpu(ShapeId::kProbe, 1);
  for (const MatrixSpec& spec :
       {MatrixSpec{MatrixRole::kExpertDown, 0, 5, 48, 64}, MatrixSpec{MatrixRole::kAttnQ, 0, 1, 2048, 64},
        MatrixSpec{MatrixRole::kEmbedding, -1, 1, 80, 128},
        MatrixSpec{MatrixRole::kGdnOut, 0, 1, 100, 192}}) {
    for (const int bits : {4, 8}) {
      const RandomTensor tensor(random, spec.n_matrices, spec.n_out, spec.n_in, bits);
      const Matrix whole = backend->upload_matrix(spec.role, tensor.view);
      const Matrix parts = backend->allocate_matrix(spec, bits);
      std::vector<int> firsts;
      for (int first = 0; first < row_count(spec); first += 32) {
        firsts.insert(
            firsts.begin() + static_cast<int64_t>(random.below(static_cast<uint32_t>(firsts.size()) + 1)),
            first);
      }
      for (const int first : firsts) {
        const int count = std::min(32, row_count(spec) - first);
        backend->upload_rows(parts, spec.role, first, rows_of(tensor.view, first, count));
      }
      EXPECT_EQ(std::memcmp(parts.codes, whole.codes, backend->matrix_bytes(spec, bits)), 0)
          << weight_name(spec.role, -1) << " " << bits;
    }
  }
}

// Every element of a panel against the layout that panels.h describes.
TEST(CpuUpload, PanelsHoldEveryCodeWherePanelsHSays) {
  Random random(32);
  const std::unique_ptr<Backend> backend = cpu(ShapeId::kProbe, 1);
  for (const int bits : {4, 8}) {
    constexpr int kRows = 36;  // the last panel has four rows and twelve of zeros
    constexpr int kColumns = 128;
    const RandomTensor tensor(random, 1, kRows, kColumns, bits);
    const Matrix matrix = backend->upload_matrix(MatrixRole::kGdnOut, tensor.view);
    const auto* const bytes = static_cast<const uint8_t*>(matrix.codes);
    for (int row = 0; row < 48; ++row) {
      for (int column = 0; column < kColumns; ++column) {
        const uint8_t* const group = bytes +
                                     static_cast<uint64_t>(row / 16) * cpu::panel_bytes(kColumns, bits) +
                                     static_cast<uint64_t>(column / 64) * cpu::group_bytes(bits);
        const int within = column % 64;
        const int lane = 4 * (row % 16);
        const int found = bits == 4
                              ? group[within / 8 * 64 + lane + within % 4] >> (within % 8 < 4 ? 0 : 4) & 15
                              : group[within / 4 * 64 + lane + within % 4];
        const size_t index = static_cast<size_t>(row * kColumns + column);
        const size_t per_word = static_cast<size_t>(32 / bits);
        const uint32_t expected =
            row < kRows ? tensor.codes[index / per_word] >> (static_cast<size_t>(bits) * (index % per_word)) &
                              ((1u << bits) - 1)
                        : 0;
        ASSERT_EQ(static_cast<uint32_t>(found), expected) << bits << " bits, " << row << ", " << column;
        uint16_t factors[2];
        std::memcpy(&factors[0], group + cpu::code_bytes(bits) + (row % 16) * 2, 2);
        std::memcpy(&factors[1], group + cpu::code_bytes(bits) + 32 + (row % 16) * 2, 2);
        ASSERT_EQ(factors[0], row < kRows ? tensor.scales[index / 64].bits : 0);
        ASSERT_EQ(factors[1], row < kRows ? tensor.biases[index / 64].bits : 0);
      }
    }
  }
}

// The largest prefill, attention split over threads, eight rows of decode, and a pick that changes logits.
TEST(CpuScratch, StaysWithinThePlan) {
  for (const int threads : {1, 12}) {
    std::unique_ptr<Backend> backend = cpu(ShapeId::kProbe, threads);
    const auto* const cpu_backend = dynamic_cast<const cpu::CpuBackend<Probe>*>(backend.get());
    ASSERT_NE(cpu_backend, nullptr);
    const uint64_t planned = backend->scratch_bytes(small_limits());
    const std::unique_ptr<Model> model = make_random_model(std::move(backend));
    Sequence sequence(*model);
    const std::vector<int32_t> tokens(static_cast<size_t>(small_limits().max_prefill_rows), 7);
    const int32_t last = static_cast<int32_t>(tokens.size()) - 1;
    const int32_t eight[] = {0, 1, 2, 3, 4, 5, 6, 7};
    sequence.feed(tokens, {&last, 1});
    sequence.feed(std::vector<int32_t>(8, 3), eight, StepKind::kDecode);
    sequence.feed(std::vector<int32_t>(1, 3), {eight, 1}, StepKind::kDecode);
    PickRow row{};
    row.forced_token = -1;
    row.n_vocab = Probe::kVocab;
    row.repetition_penalty = 1.5f;
    row.top_p = 1.0f;
    row.mask = -1;
    model->pick({{row}, {}, {}, {}});
    EXPECT_EQ(model->wait()[0].status, kPickOk);
    EXPECT_LE(cpu_backend->scratch_held_bytes(), planned) << threads << " threads";
    EXPECT_GE(cpu_backend->scratch_held_bytes(), planned / 2)
        << "a plan far above the need refuses too early";
  }
}

// Weights whose reads of experts are counted and can be made to fail.
class FlakySource final : public WeightSource {
 public:
  explicit FlakySource(ShapeId shape) : inner_(shape) {}
  const ShapeInfo& shape() const override { return inner_.shape(); }
  int matrix_bits(const MatrixSpec& spec) const override { return inner_.matrix_bits(spec); }
  AffineTensor read_rows(std::vector<std::byte>& memory, const MatrixSpec& spec, int first_row,
                         int n_rows) override {
    if (is_expert(spec.role)) {
      ++expert_reads;
      if (reads_until_failure.fetch_sub(1) == 0) {
        fail(ErrorKind::kBadCheckpoint, "the disk is gone");
      }
    }
    return inner_.read_rows(memory, spec, first_row, n_rows);
  }
  std::vector<float> read_vector(const VectorSpec& spec) override { return inner_.read_vector(spec); }
  void release_rows(const MatrixSpec& spec, int first_row, int n_rows) override {
    inner_.release_rows(spec, first_row, n_rows);
  }
  uint64_t total_bytes() const override { return inner_.total_bytes(); }

  std::atomic<int64_t> expert_reads{0};
  std::atomic<int64_t> reads_until_failure{INT64_MAX};

 private:
  RandomWeights inner_;
};

class StreamedExperts : public ::testing::TestWithParam<ShapeId> {
 protected:
  // `layers` says for how many layers' experts there is room.
  std::unique_ptr<Model> model(double layers, int threads = 2) {
    std::unique_ptr<Backend> backend = cpu(GetParam(), threads);
    LoadOptions options;
    options.expert_budget_bytes =
        static_cast<uint64_t>(layers * static_cast<double>(expert_sizes(*backend, *source_).layer_bytes));
    return std::make_unique<Model>(std::move(backend), *source_, small_limits(), options);
  }
  std::vector<int32_t> tokens(int count, uint32_t seed) const {
    std::vector<int32_t> all;
    for (int i = 0; i < count; ++i) {
      seed = seed * 1664525u + 1013904223u;
      all.push_back(static_cast<int32_t>((seed >> 8) % static_cast<uint32_t>(source_->shape().vocab)));
    }
    return all;
  }
  // A prefill, then some decode steps: the logits of each.
  std::vector<std::vector<float>> run(Model& model, int n_prompt = 100) {
    Sequence sequence(model);
    std::vector<std::vector<float>> logits;
    const int32_t last = n_prompt - 1;
    logits.push_back(sequence.feed(tokens(n_prompt, 1), {&last, 1}));
    for (uint32_t i = 0; i < 5; ++i) {
      const int32_t first = 0;
      logits.push_back(sequence.feed(tokens(1, 50 + i), {&first, 1}, StepKind::kDecode));
    }
    return logits;
  }

  std::unique_ptr<FlakySource> source_ = std::make_unique<FlakySource>(GetParam());
};

TEST_P(StreamedExperts, GiveTheBitsOfResidentOnes) {
  const auto expected = run(*make_random_model(cpu(GetParam(), 2)));
  for (const double layers : {1.0, 1.4, 100.0}) {
    for (const int threads : {1, 3}) {
      const std::unique_ptr<Model> streamed = model(layers, threads);
      EXPECT_EQ(run(*streamed), expected) << layers << " layers, " << threads << " threads";
      EXPECT_EQ(run(*streamed), expected) << "again, with what was left in memory";
    }
  }
}

TEST_P(StreamedExperts, AreReadOnceWhereThereIsRoomAndAgainWhereThereIsNot) {
  const std::unique_ptr<Model> roomy = model(100);
  EXPECT_EQ(source_->expert_reads, 0) << "nothing is read before a step needs it";
  run(*roomy);
  const int64_t first = source_->expert_reads;
  EXPECT_GT(first, 0);
  run(*roomy);
  EXPECT_EQ(source_->expert_reads, first);
  const std::unique_ptr<Model> narrow = model(1);
  source_->expert_reads = 0;
  run(*narrow);
  EXPECT_GE(source_->expert_reads, first);
  source_->expert_reads = 0;
  run(*narrow);
  EXPECT_GT(source_->expert_reads, 0);
}

TEST_P(StreamedExperts, AFailedReadFailsTheStepAndNothingElse) {
  const std::unique_ptr<Model> streamed = model(1.2);
  const auto expected = run(*streamed);
  for (const int64_t successes : {0, 1, 30}) {
    source_->reads_until_failure = successes;
    EXPECT_THROW(run(*streamed), Error);
    source_->reads_until_failure = INT64_MAX;
    EXPECT_EQ(run(*streamed), expected) << "after a failure behind " << successes << " reads";
  }
}

TEST_P(StreamedExperts, NeedRoomForALayer) {
  EXPECT_THROW(model(0.99), Error);
  const std::unique_ptr<Backend> backend = cpu(GetParam(), 1);
  const ExpertSizes sizes = expert_sizes(*backend, *source_);
  cpu::ExpertCache cache(*source_, sizes.all_bytes * 2);
  EXPECT_EQ(cache.n_places(), source_->shape().layers * source_->shape().experts)
      << "no place without an expert";
}

INSTANTIATE_TEST_SUITE_P(Shapes, StreamedExperts, ::testing::Values(ShapeId::kDemo, ShapeId::kProbe),
                         [](const auto& one) { return one.param == ShapeId::kDemo ? "Demo" : "Probe"; });

}  // namespace
}  // namespace orfebre::test
