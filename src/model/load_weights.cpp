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

// Loader threads take the next tensor of the list until it is empty, an error or a cancel.
class ParallelLoad {
 public:
  ParallelLoad(Weights& weights, Backend& backend, WeightSource& source, const LoadOptions& options)
      : weights_(weights),
        backend_(backend),
        source_(source),
        options_(options),
        specs_(matrix_specs(source.shape())),
        total_bytes_(source.total_bytes()) {}

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
  void work() {
    while (true) {
      const size_t index = next_.fetch_add(1);
      if (index >= specs_.size() || stop_.load()) {
        return;
      }
      try {
        load(specs_[index]);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!error_) {
          error_ = std::current_exception();
        }
        stop_.store(true);
      }
    }
  }

  void load(const MatrixSpec& spec) {
    if (options_.cancel != nullptr && options_.cancel->load()) {
      fail(ErrorKind::kInternal, "loading was cancelled");
    }
    const AffineTensor tensor = source_.read_matrix(spec);
    slot_of(weights_, spec.role, spec.layer) = backend_.upload_matrix(spec.role, tensor);
    source_.release_matrix(spec);
    const std::lock_guard<std::mutex> lock(mutex_);
    done_bytes_ += stored_bytes(spec, tensor.bits);
    if (options_.progress) {
      options_.progress(done_bytes_, std::max(done_bytes_, total_bytes_));
    }
  }

  Weights& weights_;
  Backend& backend_;
  WeightSource& source_;
  const LoadOptions& options_;
  const std::vector<MatrixSpec> specs_;
  const uint64_t total_bytes_;
  std::atomic<size_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;  // guards the two below and the progress callback
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
  ParallelLoad(weights, backend, source, options).run();
  return weights;
}

}  // namespace orfebre
