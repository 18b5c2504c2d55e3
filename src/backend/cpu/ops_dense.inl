// Ops around dense matrices: embed, the in- and out-projections of both mixers, head.

template <class Shape>
QuantizedRows CpuBackend<Shape>::quantize_rows(const float* rows, const float* norm, int n_rows, int n_in) {
  const uint64_t stride = quantized_row_bytes(n_in);
  uint8_t* const out = quantized_.at_least(stride * static_cast<uint64_t>(n_rows), "quantised activations");
  for_rows(n_rows, [&](int row, int) {
    const float* const from = rows + static_cast<int64_t>(row) * n_in;
    uint8_t* const to = out + stride * static_cast<uint64_t>(row);
    if (norm == nullptr) {
      kernels_.quantize(to, from, n_in);
    } else {
      alignas(64) float normed[Shape::kHidden];
      kernels_.rms_norm(normed, from, norm, Shape::kHidden);
      kernels_.quantize(to, normed, Shape::kHidden);
    }
  });
  return {out, stride};
}

// All panels of all projections form one range, so that an op is one fork and join however many matrices it
// has.
template <class Shape>
void CpuBackend<Shape>::project(std::span<const Projection> projections, const QuantizedRows& x, int n_rows,
                                bool add) {
  int64_t n_panels = 0;
  for (const Projection& p : projections) {
    n_panels += panel_count(p.n_out);
  }
  const auto body = [&](int64_t begin, int64_t end, int) {
    int64_t base = 0;
    for (const Projection& p : projections) {
      const int64_t count = panel_count(p.n_out);
      const int64_t from = std::max<int64_t>(begin - base, 0);
      const int64_t to = std::min(end - base, count);
      if (from < to) {
        const uint64_t skip =
            static_cast<uint64_t>(p.first_panel) * panel_bytes(p.matrix->n_in, p.matrix->bits);
        kernels_.project({static_cast<const uint8_t*>(p.matrix->codes) + skip, p.matrix->bits, p.matrix->n_in,
                          p.n_out, x.data, x.stride, n_rows, p.out, static_cast<uint64_t>(p.n_out), add},
                         from, to);
      }
      base += count;
    }
  };
  if (n_rows <= kMaxDecodeRows) {
    pool_.run(n_panels, body);  // bound by memory: long forward streams
  } else {
    constexpr int64_t kPanelsATime = 4;  // as many as meet a tile of columns while it is in the L1 cache
    pool_.run_dynamic(n_panels, kPanelsATime, body);
  }
}

inline Projection whole(const Matrix& matrix, float* out) {
  return {&matrix, out, 0, matrix.n_out};
}

template <class Shape>
void CpuBackend<Shape>::embed(const EmbedOp& op) {
  const StepHeader& step = *op.step;
  const uint64_t row_bytes = embedding_row_bytes(Shape::kHidden, op.embedding.bits);
  for_rows(step.n_rows, [&](int r, int) {
    const StepRow& row = step.rows[r];
    const int32_t token =
        row.token == kTokenFromPick ? op.picked[step.sequences[row.sequence].lane] : row.token;
    float* const out = op.residual + static_cast<int64_t>(r) * Shape::kHidden;
    if (token < 0 || token >= Shape::kVocab) {
      std::fill_n(out, Shape::kHidden,
                  std::numeric_limits<float>::quiet_NaN());  // the request fails at its pick
    } else {
      kernels_.embed(
          out, static_cast<const uint8_t*>(op.embedding.codes) + static_cast<uint64_t>(token) * row_bytes,
          Shape::kHidden, op.embedding.bits);
    }
    constexpr int kPairs = Shape::kRotaryDims / 2;
    float* const rope = op.rope + static_cast<int64_t>(r) * Shape::kRotaryDims;
    for (int i = 0; i < kPairs; ++i) {  // in double: at 262,144 positions an f32 angle is off by 8e-3
      const double angle = row.position * std::pow(Shape::kRopeTheta, -2.0 * i / Shape::kRotaryDims);
      rope[i] = static_cast<float>(std::cos(angle));
      rope[kPairs + i] = static_cast<float>(std::sin(angle));
    }
  });
}

template <class Shape>
void CpuBackend<Shape>::gdn_project(const GdnProjectOp& op) {
  const QuantizedRows x = quantize_rows(op.residual, op.norm, op.step->n_rows, Shape::kHidden);
  const Projection parts[] = {whole(op.qkv, op.qkv_out), whole(op.z, op.z_out), whole(op.a, op.a_out),
                              whole(op.b, op.b_out)};
  project(parts, x, op.step->n_rows);
}

template <class Shape>
void CpuBackend<Shape>::gdn_output(const GdnOutputOp& op) {
  const QuantizedRows x = quantize_rows(op.mixed, nullptr, op.step->n_rows, op.out.n_in);
  const Projection parts[] = {whole(op.out, op.residual)};
  project(parts, x, op.step->n_rows, true);
}

template <class Shape>
void CpuBackend<Shape>::attn_output(const AttnOutputOp& op) {
  const QuantizedRows x = quantize_rows(op.mixed, nullptr, op.step->n_rows, op.out.n_in);
  const Projection parts[] = {whole(op.out, op.residual)};
  project(parts, x, op.step->n_rows, true);
}

template <class Shape>
void CpuBackend<Shape>::head(const HeadOp& op) {
  const StepHeader& step = *op.step;
  const uint64_t stride = quantized_row_bytes(Shape::kHidden);
  uint8_t* const x =
      quantized_.at_least(stride * static_cast<uint64_t>(step.n_logit_rows), "quantised activations");
  for (int i = 0; i < step.n_logit_rows; ++i) {
    alignas(64) float normed[Shape::kHidden];
    const float* const row = op.residual + static_cast<int64_t>(step.logit_rows[i]) * Shape::kHidden;
    kernels_.rms_norm(normed, row, op.norm, Shape::kHidden);
    kernels_.quantize(x + stride * static_cast<uint64_t>(i), normed, Shape::kHidden);
  }
  const Projection parts[] = {whole(op.head, op.logits)};
  project(parts, {x, stride}, step.n_logit_rows);
}
