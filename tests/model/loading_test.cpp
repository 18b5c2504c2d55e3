// Loading: every row once and in its place, file pages dropped behind, and nothing left by a load that is
// cancelled or fails.
#include "backend/cpu/cpu_backend.h"
#include "backend/reference/reference_backend.h"
#include "base/error.h"
#include "checkpoint/checkpoint.h"
#include "support/random_checkpoint.h"
#include "support/random_weights.h"
#include "support/sequence.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>

namespace orfebre::test {
namespace {

// Counts how often each row was asked for.
class CountingWeights final : public WeightSource {
 public:
  const ShapeInfo& shape() const override { return weights_.shape(); }
  int matrix_bits(const MatrixSpec& spec) const override { return weights_.matrix_bits(spec); }
  AffineTensor read_rows(std::vector<std::byte>& memory, const MatrixSpec& spec, int first_row,
                         int n_rows) override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      std::vector<int>& counts = reads_[{spec.role, spec.layer}];
      counts.resize(static_cast<size_t>(row_count(spec)));
      for (int row = first_row; row < first_row + n_rows; ++row) {
        ++counts.at(static_cast<size_t>(row));
      }
    }
    return weights_.read_rows(memory, spec, first_row, n_rows);
  }
  std::vector<float> read_vector(const VectorSpec& spec) override { return weights_.read_vector(spec); }
  void release_rows(const MatrixSpec& spec, int first_row, int n_rows) override {
    EXPECT_EQ(first_row, 0);
    EXPECT_EQ(n_rows, row_count(spec));
    ++n_released;
    weights_.release_rows(spec, first_row, n_rows);
  }
  uint64_t total_bytes() const override { return weights_.total_bytes(); }

  const std::vector<int>& reads_of(const MatrixSpec& spec) { return reads_[{spec.role, spec.layer}]; }
  std::atomic<size_t> n_released{0};

 private:
  RandomWeights weights_{ShapeId::kProbe};
  std::mutex mutex_;
  std::map<std::pair<MatrixRole, int>, std::vector<int>> reads_;
};

TEST(Loading, ReadsEveryRowOnceAndReportsProgressToTheEnd) {
  CountingWeights weights;
  LoadOptions options;
  options.threads = 3;
  uint64_t last = 0;
  uint64_t in_all = 0;
  options.progress = [&](uint64_t done, uint64_t total) {
    EXPECT_GT(done, last);
    last = done;
    in_all = total;
  };
  const auto backend = make_reference_backend(ShapeId::kProbe, {});
  load_weights(*backend, weights, options);
  EXPECT_EQ(last, in_all);
  EXPECT_EQ(in_all, weights.total_bytes());
  const std::vector<MatrixSpec> specs = matrix_specs(weights.shape());
  EXPECT_EQ(weights.n_released, specs.size());
  for (const MatrixSpec& spec : specs) {
    EXPECT_THAT(weights.reads_of(spec), ::testing::Each(1)) << weight_name(spec.role, spec.layer);
    EXPECT_EQ(weights.reads_of(spec).size(), static_cast<size_t>(row_count(spec)));
  }
}

#if defined(__linux__)

// A checkpoint in the build folder: a disk, where /tmp may be memory that cannot be dropped.
class LoadingFromDisk : public ::testing::Test {
 protected:
  LoadingFromDisk() {
    std::string pattern = (std::filesystem::current_path() / "orfebre-loading-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw std::runtime_error("cannot make a temporary directory");
    }
    directory_ = pattern;
    write_mlx_checkpoint(directory_, ShapeId::kProbe);
    const int file = ::open(weights_path().c_str(), O_RDONLY | O_CLOEXEC);
    ::fsync(file);  // pages that are not yet on disk stay
    ::posix_fadvise(file, 0, 0,
                    POSIX_FADV_DONTNEED);  // written at once they are huge, unlike pages that were read
    ::close(file);
    std::ifstream warm(weights_path(), std::ios::binary);
    warm.ignore(std::numeric_limits<std::streamsize>::max());
  }
  ~LoadingFromDisk() override { std::filesystem::remove_all(directory_); }

  std::string weights_path() const { return directory_ + "/model.safetensors"; }

  // The share of the file that the kernel holds in memory.
  double cached_share() const {
    const int file = ::open(weights_path().c_str(), O_RDONLY | O_CLOEXEC);
    const size_t n_bytes = std::filesystem::file_size(weights_path());
    void* const mapped = ::mmap(nullptr, n_bytes, PROT_READ, MAP_SHARED, file, 0);
    const size_t page_bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> pages((n_bytes + page_bytes - 1) / page_bytes);
    EXPECT_EQ(::mincore(mapped, n_bytes, pages.data()), 0);
    ::munmap(mapped, n_bytes);
    ::close(file);
    const auto held =
        std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return (page & 1) != 0; });
    return static_cast<double>(held) / static_cast<double>(pages.size());
  }

  std::string directory_;
};

TEST_F(LoadingFromDisk, DropsThePagesThatItHasRead) {
  ASSERT_GT(cached_share(), 0.95);
  Checkpoint keeping(directory_);
  load_weights(*make_reference_backend(ShapeId::kProbe, {}), keeping, {});
  EXPECT_GT(cached_share(), 0.95) << "a small model starts faster when its file stays";

  Checkpoint checkpoint(directory_, {.drop_pages_above_bytes = 0});
  double at_half = 1;
  LoadOptions options;
  options.threads = 2;
  options.progress = [&](uint64_t done, uint64_t total) {
    if (at_half == 1 && done > total / 2) {
      at_half = cached_share();
    }
  };
  load_weights(*make_reference_backend(ShapeId::kProbe, {}), checkpoint, options);
  // Large pages that reach over a tensor's end stay until the end: of tensors as small as these, many.
  EXPECT_LT(at_half, 0.9) << "behind the reads, not at the end";
  EXPECT_LT(cached_share(), 0.05);
}

size_t open_files() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

size_t threads() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    ++count;
  }
  return count;
}

int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t all = 0;
  int64_t resident = 0;
  file >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

TEST_F(LoadingFromDisk, ACancelledLoadLeavesNothing) {
  const size_t files_before = open_files();
  const size_t threads_before = threads();
  const int64_t resident_before = resident_bytes();
  int64_t resident_at_cancel = 0;
  {
    Checkpoint checkpoint(directory_);
    std::atomic<bool> cancel{false};
    uint64_t after_cancel = 0;
    LoadOptions options;
    options.threads = 2;
    options.cancel = &cancel;
    options.progress = [&](uint64_t done, uint64_t total) {
      after_cancel += cancel ? 1 : 0;
      if (done > total / 2 && !cancel) {
        resident_at_cancel = resident_bytes();
        cancel = true;
      }
    };
    EXPECT_THROW(Model(make_reference_backend(ShapeId::kProbe, {}), checkpoint, small_limits(), options),
                 Error);
    EXPECT_LE(after_cancel, 1u) << "the part that another thread was at";
  }
  EXPECT_EQ(open_files(), files_before);
  EXPECT_EQ(threads(), threads_before);
  EXPECT_GT(resident_at_cancel, resident_before + (15 << 20));
  EXPECT_LT(resident_bytes(), resident_before + (8 << 20));
  size_t n_files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory_)) {
    ++n_files;
  }
  EXPECT_EQ(n_files, 2u) << "config.json and model.safetensors";
}

TEST_F(LoadingFromDisk, AFileCutShortMeanwhileIsAnErrorAndLeavesNothing) {
  const size_t threads_before = threads();
  Checkpoint checkpoint(directory_);
  LoadOptions options;
  options.threads = 2;
  bool cut = false;
  options.progress = [&](uint64_t done, uint64_t total) {
    if (done > total / 4 && !cut) {
      cut = true;
      std::filesystem::resize_file(weights_path(), std::filesystem::file_size(weights_path()) / 3);
    }
  };
  try {
    const Model model(make_reference_backend(ShapeId::kProbe, {}), checkpoint, small_limits(), options);
    FAIL() << "it loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadCheckpoint);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("model.safetensors"));
  }
  EXPECT_EQ(threads(), threads_before);
}

// Streamed experts are read as long as the model lives.
TEST_F(LoadingFromDisk, AFileCutShortOrReplacedUnderStreamedExpertsIsAnError) {
  if (!cpu_backend_runs_here()) {
    return;  // no other backend streams
  }
  Checkpoint checkpoint(directory_, {.page_cache = PageCache::kBypass});
  std::unique_ptr<Backend> backend = make_cpu_backend(ShapeId::kProbe, {});
  LoadOptions options;
  options.expert_budget_bytes = expert_sizes(*backend, checkpoint).layer_bytes;
  Model model(std::move(backend), checkpoint, small_limits(), options);
  const std::vector<int32_t> tokens(50, 3);
  const int32_t last = 49;
  const auto run = [&] { return Sequence(model).feed(tokens, {&last, 1}); };
  const std::vector<float> resident =
      Sequence(*make_random_model(make_cpu_backend(ShapeId::kProbe, {}))).feed(tokens, {&last, 1});
  EXPECT_EQ(run(), resident);
  std::filesystem::copy_file(weights_path(), weights_path() + ".copy");
  std::filesystem::resize_file(weights_path(), std::filesystem::file_size(weights_path()) / 3);
  EXPECT_THROW(run(), Error);
  std::filesystem::rename(weights_path() + ".copy", weights_path());  // the same bytes, but who knows
  EXPECT_THROW(run(), Error);
}

#endif

}  // namespace
}  // namespace orfebre::test
