// The mixture of experts: routing, and the experts' products grouped by expert.

template <class Shape>
void CpuBackend<Shape>::route(const RouteOp& op) {
  const int n_rows = op.step->n_rows;
  const uint64_t stride = quantized_row_bytes(Shape::kHidden);
  uint8_t* const x = quantized_.at_least(stride * static_cast<uint64_t>(n_rows), "quantised activations");
  for_rows(n_rows, [&](int row, int) {
    float* const normed = op.normed + static_cast<int64_t>(row) * Shape::kHidden;
    kernels_.rms_norm(normed, op.residual + static_cast<int64_t>(row) * Shape::kHidden, op.norm,
                      Shape::kHidden);
    kernels_.quantize(x + stride * static_cast<uint64_t>(row), normed, Shape::kHidden);
  });
  const int padded_rows = (n_rows + 15) / 16 * 16;
  float* const logits = rows_.floats(
      static_cast<uint64_t>(n_rows) * Shape::kExperts + static_cast<uint64_t>(padded_rows), "router");
  float* const shared = logits + static_cast<int64_t>(n_rows) * Shape::kExperts;
  const Projection parts[] = {whole(op.router, logits), whole(op.shared_gate, shared)};
  project(parts, {x, stride}, n_rows);
  for_rows(n_rows, [&](int row, int) {
    kernels_.top_experts(op.expert_ids + row * Shape::kActiveExperts,
                         op.expert_weights + row * Shape::kActiveExperts,
                         logits + static_cast<int64_t>(row) * Shape::kExperts, Shape::kExperts);
  });
  kernels_.sigmoid(shared, padded_rows);
  std::copy_n(shared, n_rows, op.shared_weight);
}

// A counting sort of (row, slot) by expert: experts ascend, rows ascend within one, the shared expert is
// last.
template <class Shape>
void CpuBackend<Shape>::group_by_expert(const StepHeader& step, const int32_t* expert_ids) {
  constexpr int kActive = Shape::kActiveExperts;
  ExpertGroups& e = experts_;
  e.counts.assign(Shape::kExperts + 1, 0);
  e.bad_entries.clear();
  const auto valid = [](int32_t id) { return id >= 0 && id < Shape::kExperts; };
  for (int i = 0; i < step.n_rows * kActive; ++i) {
    if (valid(expert_ids[i])) {
      ++e.counts[static_cast<size_t>(expert_ids[i])];
    } else {
      e.bad_entries.push_back(i / kActive * kSlots + i % kActive);
    }
  }
  e.counts[Shape::kExperts] = step.n_rows;
  e.groups.clear();
  int first = 0;
  for (int expert = 0; expert <= Shape::kExperts; ++expert) {
    int32_t& count = e.counts[static_cast<size_t>(expert)];
    if (count > 0) {
      e.groups.push_back({expert, first, count});
    }
    first += count;
    count = first - count;  // from here on: where the expert's next entry goes
  }
  e.entries.resize(static_cast<size_t>(first));
  for (int row = 0; row < step.n_rows; ++row) {
    for (int slot = 0; slot < kActive; ++slot) {
      const int32_t id = expert_ids[row * kActive + slot];
      if (valid(id)) {
        e.entries[static_cast<size_t>(e.counts[static_cast<size_t>(id)]++)] = row * kSlots + slot;
      }
    }
    e.entries[static_cast<size_t>(e.counts[Shape::kExperts]++)] = row * kSlots + kActive;
  }
}

namespace {

// Where one of `n_matrices` repacked matrices begins; one of streamed experts was required before.
inline const uint8_t* panels_of(const Matrix& matrix, int index) {
  if (ExpertCache::is_handle(matrix)) {
    return ExpertCache::panels(matrix, index);
  }
  return static_cast<const uint8_t*>(matrix.codes) +
         static_cast<uint64_t>(index) * panels_bytes(matrix.n_out, matrix.n_in, matrix.bits);
}

}  // namespace

template <class Shape>
void CpuBackend<Shape>::require_experts(const Matrix& handle) {
  if (!ExpertCache::is_handle(handle)) {
    return;
  }
  required_.clear();
  for (const ExpertGroups::Group& group : experts_.groups) {
    if (group.expert != Shape::kExperts) {
      required_.push_back(group.expert);
    }
  }
  expert_cache_->require(handle, required_, pool_);
}

template <class Shape>
void CpuBackend<Shape>::experts_up(const ExpertsUpOp& op) {
  const int n_rows = op.step->n_rows;
  constexpr int64_t kPanels = Shape::kExpertWidth / kPanelRows;
  const QuantizedRows x = quantize_rows(op.normed, nullptr, n_rows, Shape::kHidden);
  group_by_expert(*op.step, op.expert_ids);
  require_experts(op.gate);
  for (const int32_t entry : experts_.bad_entries) {
    std::fill_n(op.activated + static_cast<int64_t>(entry) * Shape::kExpertWidth, Shape::kExpertWidth, 0.0f);
  }
  const auto run_panels = [&](const ExpertGroups::Group& group, int64_t begin, int64_t end) {
    const bool shared = group.expert == Shape::kExperts;
    const Matrix& gate = shared ? op.shared_gate : op.gate;
    const Matrix& up = shared ? op.shared_up : op.up;
    const int index = shared ? 0 : group.expert;
    kernels_.expert_up({panels_of(gate, index), panels_of(up, index), gate.bits, up.bits, Shape::kHidden,
                        Shape::kExpertWidth, x.data, x.stride, experts_.entries.data() + group.first,
                        group.count, op.activated},
                       begin, end);
  };
  // A unit is one panel of gate and up of one group.
  const auto body = [&](int64_t begin, int64_t end, int) {
    while (begin < end) {
      const int64_t group = begin / kPanels;
      const int64_t stop = std::min(end, (group + 1) * kPanels);
      run_panels(experts_.groups[static_cast<size_t>(group)], begin - group * kPanels,
                 stop - group * kPanels);
      begin = stop;
    }
  };
  const auto n_units = static_cast<int64_t>(experts_.groups.size()) * kPanels;
  if (n_rows <= kMaxDecodeRows) {
    pool_.run(n_units, body);
  } else {
    pool_.run_dynamic(n_units, 2, body);
  }
}

// A thread owns some output panels and walks all experts in ascending order, so that each residual value gets
// its terms in one order without any buffer of products.
template <class Shape>
void CpuBackend<Shape>::experts_down(const ExpertsDownOp& op) {
  const int n_rows = op.step->n_rows;
  constexpr int kActive = Shape::kActiveExperts;
  const QuantizedRows x = quantize_rows(op.activated, nullptr, n_rows * kSlots, Shape::kExpertWidth);
  group_by_expert(*op.step, op.expert_ids);
  require_experts(op.down);  // present since experts_up, unless that was another layer's
  ExpertGroups& e = experts_;
  e.weights.resize(e.entries.size());
  for (size_t i = 0; i < e.entries.size(); ++i) {
    const int row = e.entries[i] / kSlots;
    const int slot = e.entries[i] % kSlots;
    e.weights[i] = slot == kActive ? op.shared_weight[row] : op.expert_weights[row * kActive + slot];
  }
  const auto body = [&](int64_t begin, int64_t end, int) {
    for (const ExpertGroups::Group& group : e.groups) {
      const bool shared = group.expert == Shape::kExperts;
      const Matrix& down = shared ? op.shared_down : op.down;
      kernels_.expert_down({panels_of(down, shared ? 0 : group.expert), down.bits, Shape::kExpertWidth,
                            Shape::kHidden, x.data, x.stride, e.entries.data() + group.first,
                            e.weights.data() + group.first, group.count, op.residual},
                           begin, end);
    }
  };
  constexpr int64_t kPanels = Shape::kHidden / kPanelRows;
  if (n_rows <= kMaxDecodeRows) {
    pool_.run(kPanels, body);
  } else {
    pool_.run_dynamic(kPanels, 4, body);
  }
  for (const int32_t entry : e.bad_entries) {  // a wrong id fails its request at the pick
    std::fill_n(op.residual + static_cast<int64_t>(entry / kSlots) * Shape::kHidden, Shape::kHidden,
                std::numeric_limits<float>::quiet_NaN());
  }
}
