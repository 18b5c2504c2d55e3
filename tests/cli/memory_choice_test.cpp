// The plan of memory of the real shape, on machines of many sizes: what is promised fits, the largest context
// is the largest, and a refusal says what would fit.
#include "cli/app/memory_choice.h"

#include "backend/cpu/cpu_backend.h"
#include "backend/reference/reference_backend.h"
#include "base/error.h"
#include "cli/system/system_memory.h"
#include "engine/state_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <regex>

namespace orfebre::cli {
namespace {

using ::testing::HasSubstr;

// The real checkpoint's sizes without its bytes.
class SizesOnly final : public WeightSource {
 public:
  const ShapeInfo& shape() const override { return shape_; }
  int matrix_bits(const MatrixSpec& spec) const override {
    return spec.role == MatrixRole::kRouter || spec.role == MatrixRole::kSharedGate ? 8 : 4;
  }
  AffineTensor read_rows(std::vector<std::byte>&, const MatrixSpec&, int, int) override { return {}; }
  std::vector<float> read_vector(const VectorSpec&) override { return {}; }
  void release_rows(const MatrixSpec&, int, int) override {}
  uint64_t total_bytes() const override { return 0; }

 private:
  const ShapeInfo shape_ = orfebre::describe<Qwen36>();
};

class RealShape : public ::testing::Test {
 protected:
  RealShape() {
    BackendOptions options;
    options.threads = 2;
    backend_ = make_cpu_backend(ShapeId::kQwen36, options);
  }
  MemoryNeeds with(double gigabytes) const {
    return {*backend_, sizes_, 262144, 200'000'000, static_cast<uint64_t>(gigabytes * 1e9)};
  }
  // What is said when it does not fit.
  std::string refusal(double gigabytes) const {
    try {
      choose_memory(with(gigabytes), options_);
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::kOutOfMemory || error.kind() == ErrorKind::kInvalidRequest);
      return error.what();
    }
    return "it fits";
  }

  std::unique_ptr<Backend> backend_;
  SizesOnly sizes_;
  ModelOptions options_;
};

TEST_F(RealShape, NeverPlansMoreThanMayBeUsed) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> gigabytes(4.5, 60);
  for (int i = 0; i < 60; ++i) {
    options_.parallel = 1 + static_cast<int>(random() % 8);
    options_.stream_experts = random() % 2 == 0;
    const MemoryNeeds needs = with(gigabytes(random));
    if (largest_context(needs, options_) < 1024) {
      EXPECT_THROW(choose_memory(needs, options_), Error);
      continue;
    }
    const MemoryChoice choice = choose_memory(needs, options_);
    EXPECT_LE(choice.total_bytes(), needs.usable_bytes);
    EXPECT_GE(choice.limits.n_kv_blocks * kBlockTokens, choice.limits.max_context);
    EXPECT_EQ(choice.plan.expert_bytes > 0, options_.stream_experts);
  }
}

TEST_F(RealShape, TheLargestContextFitsAndABlockMoreDoesNot) {
  options_.cache_gib = 0;
  for (const double gigabytes : {20.5, 21.0, 22.7, 25.0}) {
    options_.context_tokens = 0;
    const int largest = largest_context(with(gigabytes), options_);
    ASSERT_GT(largest, 0);
    ASSERT_LT(largest, 262144);
    options_.context_tokens = largest;
    EXPECT_EQ(choose_memory(with(gigabytes), options_).limits.max_context, largest);
    options_.context_tokens = largest + kBlockTokens;
    const std::string text = refusal(gigabytes);
    EXPECT_THAT(text, HasSubstr("the largest context that fits is " + std::to_string(largest) + ":"));
    EXPECT_THAT(text, HasSubstr("close other programs"));
  }
}

TEST_F(RealShape, TheCachesShareGivesWayToAContextThatIsAskedFor) {
  const int replies_alone = kSlotsPerSequence * options_.parallel;
  const MemoryChoice by_default = choose_memory(with(22.7), options_);
  EXPECT_GT(by_default.limits.n_state_slots, replies_alone);
  options_.context_tokens = by_default.limits.max_context + kBlockTokens;
  const MemoryChoice asked = choose_memory(with(22.7), options_);
  EXPECT_EQ(asked.limits.max_context, options_.context_tokens);
  EXPECT_EQ(asked.limits.n_state_slots, replies_alone);
  options_.cache_gib = 4;  // asked for as well: nothing gives way
  EXPECT_THAT(refusal(22.7), HasSubstr("22.70 GB may be used"));
}

TEST_F(RealShape, RefusalsSayWhatToDo) {
  const std::string small = refusal(14);
  EXPECT_THAT(small, HasSubstr("14.00 GB may be used"));
  EXPECT_THAT(small, HasSubstr("add --load stream"));
  EXPECT_THAT(small, HasSubstr("close other programs"));
  const std::string tiny = refusal(1);
  EXPECT_THAT(tiny, ::testing::Not(HasSubstr("--load stream"))) << "even that would not fit";
  options_.memory_gib = 1;
  EXPECT_THAT(refusal(1), ::testing::Not(HasSubstr("close other programs")));
}

TEST_F(RealShape, TheMemoryThatIsAdvisedIsEnough) {
  options_.memory_gib = 1;
  const std::string text = refusal(1.07);
  std::smatch found;
  ASSERT_TRUE(std::regex_search(text, found, std::regex("raise --memory to ([0-9.]+)"))) << text;
  options_.memory_gib = std::stod(found[1]);
  EXPECT_NO_THROW(choose_memory(with(options_.memory_gib * 1.073741824), options_));
  options_.memory_gib -= 0.2;
  EXPECT_THROW(choose_memory(with(options_.memory_gib * 1.073741824), options_), Error);
}

// inspect and serve make the same plan of the same context.
TEST_F(RealShape, ATableRowIsThePlanOfServing) {
  for (const double gigabytes : {20.7, 21.0, 21.4, 24.0}) {
    for (const bool stream : {false, true}) {
      options_.stream_experts = stream;
      options_.context_tokens = 0;
      const MemoryChoice row = plan_for_context(with(gigabytes), options_, 8192);
      options_.context_tokens = 8192;
      const MemoryChoice served = choose_memory(with(gigabytes), options_);
      EXPECT_EQ(row.total_bytes(), served.total_bytes()) << gigabytes;
      EXPECT_EQ(row.plan.expert_bytes, served.plan.expert_bytes) << gigabytes;
      EXPECT_EQ(row.limits.n_kv_blocks, served.limits.n_kv_blocks) << gigabytes;
    }
  }
  EXPECT_EQ(plan_for_context(with(24), options_, 8192).limits.n_kv_blocks, 4 * 8192 / kBlockTokens)
      << "four replies, each with its context";
}

TEST_F(RealShape, StreamingFitsSixteenGigabytes) {
  options_.stream_experts = true;
  const uint64_t usable = usable_of_machine(uint64_t{16} << 30);
  const MemoryChoice choice = choose_memory(with(static_cast<double>(usable) * 1e-9), options_);
  EXPECT_EQ(choice.limits.max_context, kStreamedContext);
  const ExpertSizes sizes = expert_sizes(*backend_, sizes_);
  EXPECT_GT(choice.plan.expert_bytes, sizes.all_bytes / 2);
  EXPECT_LT(choice.plan.expert_bytes, sizes.all_bytes);
  // All that it does not take is less than the margin of a megabyte.
  EXPECT_GT(choice.total_bytes() + 1'000'000, choice.usable_bytes);
}

TEST_F(RealShape, ExpertMemoryIsBoundedAndChecked) {
  options_.stream_experts = true;
  options_.expert_memory_gib = 2;
  EXPECT_EQ(choose_memory(with(14), options_).plan.expert_bytes, uint64_t{2} << 30);
  options_.expert_memory_gib = 100;
  EXPECT_EQ(choose_memory(with(40), options_).plan.expert_bytes, expert_sizes(*backend_, sizes_).all_bytes);
  options_.expert_memory_gib = 0.1;
  EXPECT_THAT(refusal(14), HasSubstr("--expert-memory 0.1 is less than the experts of one layer; use 0.43"));
  options_.expert_memory_gib = 1;
  options_.stream_experts = false;
  EXPECT_THAT(refusal(14), HasSubstr("--load stream"));
}

TEST_F(RealShape, ABackendThatCannotStreamSaysSo) {
  backend_ = make_reference_backend(ShapeId::kQwen36, {});
  options_.stream_experts = true;
  EXPECT_THAT(refusal(14), HasSubstr("use --backend cpu"));
}

}  // namespace
}  // namespace orfebre::cli
