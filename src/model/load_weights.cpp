#include "model/weights.h"

#include "base/error.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

namespace orfebre {
namespace {

// Where the forward pass looks for a matrix. `layer` is -1 for those that belong to none.
Matrix& slot_of(Weights& w, MatrixRole role, int layer) {
  LayerWeights* const l = layer < 0 ? nullptr : &w.layers[static_cast<size_t>(layer)];
  switch (role) {
    case MatrixRole::kEmbedding: return w.embedding;
    case MatrixRole::kHead: return w.head;
    case MatrixRole::kGdnQkv: return l->gdn.qkv;
    case MatrixRole::kGdnZ: return l->gdn.z;
    case MatrixRole::kGdnA: return l->gdn.a;
    case MatrixRole::kGdnB: return l->gdn.b;
    case MatrixRole::kGdnOut: return l->gdn.out;
    case MatrixRole::kAttnQ: return l->attn.q_gate;
    case MatrixRole::kAttnK: return l->attn.k;
    case MatrixRole::kAttnV: return l->attn.v;
    case MatrixRole::kAttnOut: return l->attn.out;
    case MatrixRole::kRouter: return l->moe.router;
    case MatrixRole::kSharedGate: return l->moe.shared_gate;
    case MatrixRole::kSharedUpGate: return l->moe.shared_up_gate;
    case MatrixRole::kSharedUp: return l->moe.shared_up;
    case MatrixRole::kSharedDown: return l->moe.shared_down;
    case MatrixRole::kExpertGate: return l->moe.expert_gate;
    case MatrixRole::kExpertUp: return l->moe.expert_up;
    case MatrixRole::kExpertDown: return l->moe.expert_down;
  }
  fail(ErrorKind::kInternal, "load_weights: a matrix of an unknown role in layer {}", layer);
}

const float*& slot_of(Weights& w, VectorRole role, int layer) {
  LayerWeights* const l = layer < 0 ? nullptr : &w.layers[static_cast<size_t>(layer)];
  switch (role) {
    case VectorRole::kFinalNorm: return w.final_norm;
    case VectorRole::kInputNorm: return l->input_norm;
    case VectorRole::kPostNorm: return l->post_norm;
    case VectorRole::kGdnConv: return l->gdn.conv;
    case VectorRole::kGdnALog: return l->gdn.a_log;
    case VectorRole::kGdnDtBias: return l->gdn.dt_bias;
    case VectorRole::kGdnNorm: return l->gdn.norm;
    case VectorRole::kAttnQNorm: return l->attn.q_norm;
    case VectorRole::kAttnKNorm: return l->attn.k_norm;
  }
  fail(ErrorKind::kInternal, "load_weights: a vector of an unknown role in layer {}", layer);
}

// Threads take the next part of the next matrix until all are loaded, an error or a cancel. A part is small
// enough to stay in a core's cache between the read and the repacking, and large enough for a disk.
class ParallelLoad {
 public:
  ParallelLoad(Backend& backend, WeightSource& source, const LoadOptions& options)
      : backend_(backend), source_(source), options_(options) {}

  void add(const MatrixSpec& spec, const Matrix& to) {
    const auto row_bytes =
        static_cast<int>(stored_bytes(spec, to.bits) / static_cast<uint64_t>(row_count(spec)));
    constexpr int kUnit = Backend::kUploadRows;
    Job& job = jobs_.emplace_back();
    job.spec = spec;
    job.to = to;
    // An expert's rows end with a part only if whole panels do; a matrix of other heights is one part.
    job.rows_a_part =
        spec.n_out % kUnit == 0 ? std::max(kPartBytes / row_bytes / kUnit, 1) * kUnit : row_count(spec);
    job.n_parts = (row_count(spec) + job.rows_a_part - 1) / job.rows_a_part;
    job.n_left = job.n_parts;
    total_bytes_ += stored_bytes(spec, to.bits);
  }

  void run() {
    const unsigned machine = std::max(1u, std::thread::hardware_concurrency());
    const unsigned n_threads = options_.threads > 0 ? static_cast<unsigned>(options_.threads) : machine;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < n_threads; ++i) {
      threads.emplace_back([this] { work(); });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    if (error_) {
      std::rethrow_exception(error_);
    }
  }

 private:
  static constexpr int kPartBytes = 1 << 20;

  struct Job {
    MatrixSpec spec{};
    Matrix to{};
    int rows_a_part = 0;
    int n_parts = 0;
    int n_left = 0;  // parts not yet loaded; mutex_ guards it
  };
  struct Part {
    Job* job;
    int index;
  };

  void work() {
    std::vector<std::byte> memory;
    try {
      for (Part part = next(); part.job != nullptr; part = next()) {
        load(part, memory);
      }
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!error_) {
        error_ = std::current_exception();
      }
    }
  }

  // A null job when there is nothing left to do.
  Part next() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (next_job_ == jobs_.size() || error_) {
      return {nullptr, 0};
    }
    if (options_.cancel != nullptr && options_.cancel->load()) {
      fail(ErrorKind::kInternal, "loading was cancelled");
    }
    const Part part{&jobs_[next_job_], next_part_};
    if (++next_part_ == part.job->n_parts) {
      ++next_job_;
      next_part_ = 0;
    }
    return part;
  }

  void load(const Part& part, std::vector<std::byte>& memory) {
    Job& job = *part.job;
    const int first = part.index * job.rows_a_part;
    const int count = std::min(job.rows_a_part, row_count(job.spec) - first);
    const AffineTensor rows = source_.read_rows(memory, job.spec, first, count);
    backend_.upload_rows(job.to, job.spec.role, first, rows);
    const uint64_t n_bytes = stored_bytes(job.spec, job.to.bits) /
                             static_cast<uint64_t>(row_count(job.spec)) * static_cast<uint64_t>(count);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--job.n_left == 0) {
      source_.release_rows(job.spec, 0, row_count(job.spec));
    }
    done_bytes_ += n_bytes;
    if (options_.progress) {
      options_.progress(done_bytes_, total_bytes_);
    }
  }

  Backend& backend_;
  WeightSource& source_;
  const LoadOptions& options_;
  std::vector<Job> jobs_;
  uint64_t total_bytes_ = 0;
  std::mutex mutex_;  // guards what follows, and the progress callback
  size_t next_job_ = 0;
  int next_part_ = 0;
  uint64_t done_bytes_ = 0;
  std::exception_ptr error_;
};

}  // namespace

Weights load_weights(Backend& backend, WeightSource& source, const LoadOptions& options) {
  Weights weights{};
  weights.layers.resize(static_cast<size_t>(source.shape().layers));
  for (const VectorSpec& spec : vector_specs(source.shape())) {
    const std::vector<float> values = source.read_vector(spec);
    slot_of(weights, spec.role, spec.layer) = backend.upload_vector(spec.role, values);
  }
  const bool streams = options.expert_budget_bytes > 0;
  ParallelLoad load(backend, source, options);
  for (const MatrixSpec& spec : matrix_specs(source.shape())) {
    if (!streams || !is_expert(spec.role)) {
      const Matrix matrix = backend.allocate_matrix(spec, source.matrix_bits(spec));
      slot_of(weights, spec.role, spec.layer) = matrix;
      load.add(spec, matrix);
    }
  }
  load.run();
  if (streams) {
    const auto experts = backend.stream_experts(source, options.expert_budget_bytes);
    for (size_t layer = 0; layer < experts.size(); ++layer) {
      MoeWeights& moe = weights.layers[layer].moe;
      moe.expert_gate = experts[layer].gate;
      moe.expert_up = experts[layer].up;
      moe.expert_down = experts[layer].down;
    }
  }
  return weights;
}

}  // namespace orfebre
