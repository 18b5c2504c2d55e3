#include "model/model.h"

#include "base/error.h"
#include "model/forward.h"

#include <algorithm>
#include <cstring>

namespace orfebre {
namespace {

// A request may carry up to 300 biases (the OpenAI limit); every lane may have them at once.
constexpr int kMaxBiases = 300 * kMaxDecodeRows;

// Of all buffers of Activations but the logits: what Model::allocate_activations takes for a row.
uint64_t floats_per_row(const ShapeInfo& s) {
  const uint64_t mixer = static_cast<uint64_t>(s.conv_channels() + s.value_width() + 2 * s.value_heads) +
                         2u * static_cast<uint64_t>(s.query_width()) +
                         static_cast<uint64_t>(std::max(s.value_width(), s.query_width()));
  const uint64_t moe = static_cast<uint64_t>(s.hidden) + 2u * static_cast<uint64_t>(s.active_experts) + 1u +
                       static_cast<uint64_t>((s.active_experts + 1) * s.expert_width);
  return static_cast<uint64_t>(s.hidden + s.rotary_dims) + mixer + moe;
}

uint64_t max_rows(const StepLimits& limits) {
  return static_cast<uint64_t>(std::max(limits.max_prefill_rows, kMaxDecodeRows));
}

}  // namespace

MemoryPlan plan_memory(const Backend& backend, const WeightSource& source, const StepLimits& limits,
                       uint64_t expert_budget_bytes) {
  const ShapeInfo& shape = source.shape();
  const BackendInfo& info = backend.info();
  MemoryPlan plan;
  plan.expert_bytes = expert_budget_bytes;
  plan.scratch_bytes = backend.scratch_bytes(limits);
  for (const MatrixSpec& spec : matrix_specs(shape)) {
    if (expert_budget_bytes == 0 || !is_expert(spec.role)) {
      plan.weight_bytes += backend.matrix_bytes(spec, source.matrix_bits(spec));
    }
  }
  for (const VectorSpec& spec : vector_specs(shape)) {
    plan.weight_bytes += static_cast<uint64_t>(spec.size) * sizeof(float);
  }
  plan.kv_bytes = static_cast<uint64_t>(shape.attention_layers()) *
                  static_cast<uint64_t>(limits.n_kv_blocks) * info.kv_block_bytes;
  plan.state_bytes = static_cast<uint64_t>(limits.n_state_slots) * info.state_slot_floats * sizeof(float) +
                     static_cast<uint64_t>(kMaxLanes) * static_cast<uint64_t>(shape.vocab) * sizeof(uint32_t);
  plan.activation_bytes =
      max_rows(limits) * floats_per_row(shape) * sizeof(float) +
      static_cast<uint64_t>(kMaxDecodeRows) * static_cast<uint64_t>(shape.vocab) * sizeof(float);
  return plan;
}

ExpertSizes expert_sizes(const Backend& backend, const WeightSource& source) {
  const ShapeInfo& shape = source.shape();
  std::vector<uint64_t> layers(static_cast<size_t>(shape.layers), 0);
  for (const MatrixSpec& spec : matrix_specs(shape)) {
    if (is_expert(spec.role)) {
      layers[static_cast<size_t>(spec.layer)] += backend.matrix_bytes(spec, source.matrix_bits(spec));
    }
  }
  // Places are as large as the largest expert of any layer.
  const uint64_t largest = *std::max_element(layers.begin(), layers.end());
  return {largest, largest * layers.size()};
}

// Pick inputs and results in device memory, allocated once for the most that a launch may bring.
struct Model::PickBuffers {
  PickRow* rows = nullptr;        // [kMaxDecodeRows]
  PickResult* results = nullptr;  // [kMaxDecodeRows]
  int32_t* bias_ids = nullptr;    // [kMaxBiases]
  float* bias_values = nullptr;   // [kMaxBiases]
  uint32_t* masks = nullptr;      // [kMaxDecodeRows, mask_words]
  int n_rows = 0;
};

Model::Model(std::unique_ptr<Backend> backend, WeightSource& source, const StepLimits& limits,
             const LoadOptions& options)
    : backend_(std::move(backend)), limits_(limits) {
  if (source.shape().id != backend_->shape().id) {
    fail(ErrorKind::kInternal, "model: the backend was made for '{}' but the weights are '{}'",
         backend_->shape().name, source.shape().name);
  }
  allocate_state();
  allocate_activations();
  weights_ = load_weights(*backend_, source, options);
}

Model::~Model() = default;

void Model::allocate_state() {
  const BackendInfo& info = backend_->info();
  const ShapeInfo& s = shape();
  for (int layer = 0; layer < s.attention_layers(); ++layer) {
    state_.kv_cache.push_back(
        backend_->allocate(static_cast<uint64_t>(limits_.n_kv_blocks) * info.kv_block_bytes, "KV cache"));
  }
  state_.slots = static_cast<float*>(backend_->allocate(
      static_cast<uint64_t>(limits_.n_state_slots) * info.state_slot_floats * sizeof(float),
      "recurrent state"));
  state_.token_counts = static_cast<uint32_t*>(backend_->allocate(
      static_cast<uint64_t>(kMaxLanes) * static_cast<uint64_t>(s.vocab) * sizeof(uint32_t), "token counts"));
  state_.picked = static_cast<int32_t*>(backend_->allocate(kMaxLanes * sizeof(int32_t), "picked tokens"));

  pick_buffers_ = std::make_unique<PickBuffers>();
  PickBuffers& p = *pick_buffers_;
  const auto mask_words = static_cast<uint64_t>((s.vocab + 31) / 32);
  p.rows = static_cast<PickRow*>(backend_->allocate(kMaxDecodeRows * sizeof(PickRow), "pick rows"));
  p.results =
      static_cast<PickResult*>(backend_->allocate(kMaxDecodeRows * sizeof(PickResult), "pick results"));
  p.bias_ids = static_cast<int32_t*>(backend_->allocate(kMaxBiases * sizeof(int32_t), "logit biases"));
  p.bias_values = static_cast<float*>(backend_->allocate(kMaxBiases * sizeof(float), "logit biases"));
  p.masks = static_cast<uint32_t*>(
      backend_->allocate(kMaxDecodeRows * mask_words * sizeof(uint32_t), "token masks"));
}

void Model::allocate_activations() {
  const ShapeInfo& s = shape();
  const uint64_t rows = max_rows(limits_);
  const auto floats = [&](int width, const char* what) {
    return static_cast<float*>(backend_->allocate(rows * static_cast<uint64_t>(width) * sizeof(float), what));
  };
  Activations& x = activations_;
  x.residual = floats(s.hidden, "residual");
  x.rope = floats(s.rotary_dims, "rotary table");
  x.qkv = floats(s.conv_channels(), "qkv");
  x.z = floats(s.value_width(), "z");
  x.a = floats(s.value_heads, "a");
  x.b = floats(s.value_heads, "b");
  x.q = floats(s.query_width(), "q");
  x.gate = floats(s.query_width(), "gate");
  x.mixed = floats(std::max(s.value_width(), s.query_width()), "mixed");
  x.normed = floats(s.hidden, "normed");
  x.expert_ids = static_cast<int32_t*>(
      backend_->allocate(rows * static_cast<uint64_t>(s.active_experts) * sizeof(int32_t), "expert ids"));
  x.expert_weights = floats(s.active_experts, "expert weights");
  x.shared_weight = floats(1, "shared weight");
  x.activated = floats((s.active_experts + 1) * s.expert_width, "activated");
  x.logits = static_cast<float*>(backend_->allocate(
      static_cast<uint64_t>(kMaxDecodeRows) * static_cast<uint64_t>(s.vocab) * sizeof(float), "logits"));
}

StateTraits Model::state_traits() const {
  const BackendInfo& info = backend_->info();
  return {static_cast<uint64_t>(shape().attention_layers()) * info.kv_block_bytes,
          info.state_slot_floats * sizeof(float), info.decode_state_is_exact};
}

bool Model::forward(const Step& step, const std::atomic<bool>* cancel) {
  validate_step(step, shape(), limits_);
  const StepHeader* header = backend_->begin_step(step);
  n_logit_rows_ = static_cast<int>(step.logit_rows.size());
  if (backend_->encode_fused()) {
    return true;
  }
  return encode_forward(*backend_, weights_, state_, activations_, header, cancel);
}

void Model::pick(const PickBatch& batch) {
  const int n_rows = static_cast<int>(batch.rows.size());
  const int mask_words = (shape().vocab + 31) / 32;
  const auto n_masks = batch.masks.size() / static_cast<size_t>(mask_words);
  if (n_rows > kMaxDecodeRows || batch.bias_ids.size() > kMaxBiases || n_masks > kMaxDecodeRows ||
      batch.bias_ids.size() != batch.bias_values.size()) {
    fail(ErrorKind::kInternal, "pick: {} rows, {} biases and {} masks do not fit one launch", n_rows,
         batch.bias_ids.size(), n_masks);
  }
  for (const PickRow& row : batch.rows) {
    const bool inside =
        row.logit_row >= 0 && row.logit_row < n_logit_rows_ && row.lane >= 0 && row.lane < kMaxLanes &&
        row.forced_token < shape().vocab && row.n_vocab >= 1 && row.n_vocab <= shape().vocab &&
        row.bias_offset >= 0 && row.n_bias >= 0 &&
        static_cast<size_t>(row.bias_offset) + static_cast<size_t>(row.n_bias) <= batch.bias_ids.size() &&
        row.mask < static_cast<int>(n_masks);
    if (!inside) {
      fail(ErrorKind::kInternal, "pick: row for lane {} points outside its step or batch", row.lane);
    }
  }
  PickBuffers& p = *pick_buffers_;
  backend_->to_device(p.rows, batch.rows.data(), batch.rows.size() * sizeof(PickRow));
  backend_->to_device(p.bias_ids, batch.bias_ids.data(), batch.bias_ids.size() * sizeof(int32_t));
  backend_->to_device(p.bias_values, batch.bias_values.data(), batch.bias_values.size() * sizeof(float));
  backend_->to_device(p.masks, batch.masks.data(), batch.masks.size() * sizeof(uint32_t));
  p.n_rows = n_rows;
  backend_->pick({activations_.logits, p.rows, p.bias_ids, p.bias_values, p.masks, state_.token_counts,
                  state_.picked, p.results, n_rows, shape().vocab, mask_words});
}

std::span<const PickResult> Model::wait() {
  backend_->wait();
  results_.resize(static_cast<size_t>(pick_buffers_->n_rows));
  backend_->to_host(results_.data(), pick_buffers_->results, results_.size() * sizeof(PickResult));
  return results_;
}

void Model::reset_lane(int lane, std::span<const int32_t> prompt) {
  std::vector<uint32_t> counts(static_cast<size_t>(shape().vocab), 0);
  for (const int32_t id : prompt) {
    counts[static_cast<size_t>(id)] = kCountInPrompt;
  }
  uint32_t* const lane_counts = state_.token_counts + static_cast<size_t>(lane) * counts.size();
  backend_->to_device(lane_counts, counts.data(), counts.size() * sizeof(uint32_t));
}

void Model::copy_state(int to_slot, int from_slot) {
  const uint64_t floats = backend_->info().state_slot_floats;
  backend_->copy_state(state_.slots + static_cast<uint64_t>(to_slot) * floats,
                       state_.slots + static_cast<uint64_t>(from_slot) * floats, floats);
}

std::vector<float> Model::read_logits() {
  backend_->wait();
  std::vector<float> logits(static_cast<size_t>(n_logit_rows_) * static_cast<size_t>(shape().vocab));
  backend_->to_host(logits.data(), activations_.logits, logits.size() * sizeof(float));
  return logits;
}

}  // namespace orfebre
