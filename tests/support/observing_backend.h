// A backend that shows what passes through another one: after every op that writes the residual stream,
// `observe` is called with the op's name and the rows. For finding the first op that goes wrong.
#pragma once

#include "backend/backend.h"

#include <functional>
#include <utility>

namespace orfebre::test {

class ObservingBackend final : public Backend {
 public:
  // residual [n_rows, hidden] as the op left it.
  using Observer = std::function<void(std::string_view op, std::span<const float> residual)>;

  ObservingBackend(std::unique_ptr<Backend> inner, Observer observe)
      : inner_(std::move(inner)), observe_(std::move(observe)) {}

  const ShapeInfo& shape() const override { return inner_->shape(); }
  const BackendInfo& info() const override { return inner_->info(); }
  // Asked for by the model; the weights that a backend keeps for itself are not in it.
  const uint64_t& allocated_bytes() const { return allocated_bytes_; }
  // Told of each allocation.
  std::function<void(void* memory, uint64_t bytes, std::string_view what)> on_allocate;

  void* allocate(uint64_t bytes, const char* what) override {
    allocated_bytes_ += bytes;
    void* const memory = inner_->allocate(bytes, what);
    if (on_allocate) {
      on_allocate(memory, bytes, what);
    }
    return memory;
  }
  void to_device(void* device, const void* host, uint64_t bytes) override {
    inner_->to_device(device, host, bytes);
  }
  void to_host(void* host, const void* device, uint64_t bytes) override {
    inner_->to_host(host, device, bytes);
  }
  Matrix allocate_matrix(const MatrixSpec& spec, int bits) override {
    return inner_->allocate_matrix(spec, bits);
  }
  void upload_rows(const Matrix& to, MatrixRole role, int first_row, const AffineTensor& rows) override {
    inner_->upload_rows(to, role, first_row, rows);
  }
  const float* upload_vector(VectorRole role, std::span<const float> values) override {
    return inner_->upload_vector(role, values);
  }
  uint64_t matrix_bytes(const MatrixSpec& spec, int bits) const override {
    return inner_->matrix_bytes(spec, bits);
  }
  uint64_t scratch_bytes(const StepLimits& limits) const override { return inner_->scratch_bytes(limits); }
  const StepHeader* begin_step(const Step& step) override {
    n_rows_ = step.rows.size();
    return inner_->begin_step(step);
  }

  void embed(const EmbedOp& op) override {
    inner_->embed(op);
    show("embed", op.residual);
  }
  void gdn_project(const GdnProjectOp& op) override { inner_->gdn_project(op); }
  void gdn_mix(const GdnMixOp& op) override { inner_->gdn_mix(op); }
  void gdn_output(const GdnOutputOp& op) override {
    inner_->gdn_output(op);
    show("gdn_output", op.residual);
  }
  void attn_project(const AttnProjectOp& op) override { inner_->attn_project(op); }
  void attn_mix(const AttnMixOp& op) override { inner_->attn_mix(op); }
  void attn_output(const AttnOutputOp& op) override {
    inner_->attn_output(op);
    show("attn_output", op.residual);
  }
  void route(const RouteOp& op) override { inner_->route(op); }
  void experts_up(const ExpertsUpOp& op) override { inner_->experts_up(op); }
  void experts_down(const ExpertsDownOp& op) override {
    inner_->experts_down(op);
    show("experts_down", op.residual);
  }
  void head(const HeadOp& op) override { inner_->head(op); }
  void pick(const PickOp& op) override { inner_->pick(op); }
  void copy_state(float* to, const float* from, uint64_t floats) override {
    inner_->copy_state(to, from, floats);
  }
  void wait() override { inner_->wait(); }

 private:
  void show(std::string_view op, const float* residual) {
    inner_->wait();
    std::vector<float> rows(n_rows_ * static_cast<size_t>(shape().hidden));
    inner_->to_host(rows.data(), residual, rows.size() * sizeof(float));
    observe_(op, rows);
  }

  std::unique_ptr<Backend> inner_;
  Observer observe_;
  size_t n_rows_ = 0;
  uint64_t allocated_bytes_ = 0;
};

}  // namespace orfebre::test
