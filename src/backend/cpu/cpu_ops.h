// The CPU backend of one shape: owns memory, threads and scratch, and spreads each op's work over the
// threads. What a thread computes is in the kernels; where results go is here. Ops run before they return.
#pragma once

#include "backend/backend.h"
#include "backend/cpu/expert_cache.h"
#include "backend/cpu/huge_memory.h"
#include "backend/cpu/kernels.h"
#include "base/thread_pool.h"

#include <memory>
#include <vector>

namespace orfebre::cpu {

// Quantised rows in scratch memory.
struct QuantizedRows {
  const uint8_t* data;
  uint64_t stride;
};

// A product of one op: a part of a matrix's panels into one output.
struct Projection {
  const Matrix* matrix;
  float* out;  // [rows, n_out]
  int first_panel;
  int n_out;
};

// Which rows use which expert: entries (row * kSlots + slot) sorted by expert, the shared one last, rows
// ascending within an expert.
struct ExpertGroups {
  struct Group {
    int expert;  // index, or Shape::kExperts for the shared one
    int first;   // into entries
    int count;
  };
  std::vector<Group> groups;
  std::vector<int32_t> entries;
  std::vector<float> weights;        // beside entries, when asked for
  std::vector<int32_t> bad_entries;  // their expert id is out of range
  std::vector<int32_t> counts;       // working memory
};

// Blocks whose parts of an attention are kept at once when threads share a row's blocks.
constexpr int kSplitBlocks = 64;

// Rows of one sequence that a call of `attend` takes together.
struct RowTile {
  int sequence;
  int first_row;
  int n_rows;
};

template <class Shape>
class CpuBackend final : public Backend {
 public:
  CpuBackend(const Kernels& kernels, const BackendOptions& options);

  const ShapeInfo& shape() const override { return shape_; }
  const BackendInfo& info() const override { return info_; }

  void* allocate(uint64_t bytes, const char* what) override;
  void to_device(void* device, const void* host, uint64_t bytes) override;
  void to_host(void* host, const void* device, uint64_t bytes) override;
  Matrix allocate_matrix(const MatrixSpec& spec, int bits) override;
  void upload_rows(const Matrix& to, MatrixRole role, int first_row, const AffineTensor& rows) override;
  const float* upload_vector(VectorRole role, std::span<const float> values) override;
  uint64_t matrix_bytes(const MatrixSpec& spec, int bits) const override;
  uint64_t scratch_bytes(const StepLimits& limits) const override;
  std::vector<ExpertMatrices> stream_experts(WeightSource& source, uint64_t budget_bytes) override;
  const StepHeader* begin_step(const Step& step) override;

  void embed(const EmbedOp& op) override;
  void gdn_project(const GdnProjectOp& op) override;
  void gdn_mix(const GdnMixOp& op) override;
  void gdn_output(const GdnOutputOp& op) override;
  void attn_project(const AttnProjectOp& op) override;
  void attn_mix(const AttnMixOp& op) override;
  void attn_output(const AttnOutputOp& op) override;
  void route(const RouteOp& op) override;
  void experts_up(const ExpertsUpOp& op) override;
  void experts_down(const ExpertsDownOp& op) override;
  void head(const HeadOp& op) override;
  void pick(const PickOp& op) override;
  void copy_state(float* to, const float* from, uint64_t floats) override;
  void wait() override {}

  // What is mapped for scratch now: scratch_bytes is to cover it.
  uint64_t scratch_held_bytes() const {
    return quantized_.size_bytes() + rows_.size_bytes() + thread_scratch_.size_bytes() +
           vocabulary_.size_bytes();
  }

 private:
  // Runs body(row) for all rows, over the threads when there are enough of them to pay.
  template <class Body>
  void for_rows(int n_rows, const Body& body);
  // rows[r] -> quantised norm(rows[r]) * norm, or without a norm when `norm` is null.
  QuantizedRows quantize_rows(const float* rows, const float* norm, int n_rows, int n_in);
  void project(std::span<const Projection> projections, const QuantizedRows& x, int n_rows, bool add = false);
  void group_by_expert(const StepHeader& step, const int32_t* expert_ids);
  void require_experts(const Matrix& handle);
  static uint8_t* cache_head(const StepHeader& step, const StepRow& row, void* cache, int kv_head);
  AttendArgs attend_args(const AttnMixOp& op, const RowTile& tile, int kv_head) const;
  void cut_into_tiles(const StepHeader& step, int tile_rows);
  void attend_by_blocks(const AttnMixOp& op);
  float largest_of(const float* logits, int n_vocab);
  double sum_exp_of(const float* logits, int n_vocab, float shift, float divisor);
  void pick_row(const PickOp& op, const PickRow& row, PickResult& result);
  uint8_t* thread_scratch(int thread) const;

  const ShapeInfo shape_;
  const Kernels& kernels_;
  const float l2_epsilon_;
  ThreadPool pool_;
  BackendInfo info_;
  HugeMemory memory_;
  Scratch quantized_;
  Scratch rows_;            // f32 rows between an op's parts
  Scratch thread_scratch_;  // kThreadScratchBytes a thread
  Scratch vocabulary_;      // pick: changed logits
  std::vector<double> chunk_sums_;
  std::vector<RowTile> tiles_;
  ExpertGroups experts_;
  std::vector<int> required_;
  std::unique_ptr<ExpertCache> expert_cache_;  // null: all experts are in memory_
  Step step_;                                  // what the header points into
  StepHeader header_{};
};

// The largest that a kernel asks for: attention's running rows, or a refused delta state.
constexpr uint64_t kThreadScratchBytes =
    (kAttendScratchFloats > kDeltaHeadFloats ? kAttendScratchFloats : kDeltaHeadFloats) * sizeof(float);

template <class Shape>
template <class Body>
void CpuBackend<Shape>::for_rows(int n_rows, const Body& body) {
  constexpr int kRowsThatPay = 8;
  if (n_rows < kRowsThatPay) {
    for (int row = 0; row < n_rows; ++row) {
      body(row, 0);
    }
    return;
  }
  pool_.run(n_rows, [&](int64_t begin, int64_t end, int thread) {
    for (int64_t row = begin; row < end; ++row) {
      body(static_cast<int>(row), thread);
    }
  });
}

}  // namespace orfebre::cpu
