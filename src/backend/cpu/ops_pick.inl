// pick: a row of logits becomes a token, by the rules of params.h (PickRow). Passes over the vocabulary are
// vectorised and spread over the threads in fixed chunks; ordering touches only the candidates that can
// matter.

namespace {

constexpr int kVocabChunk = 8192;  // ids a unit of work covers; fixed, so that sums do not depend on threads

struct Candidate {
  int32_t id;
  float logit;
};

inline bool comes_first(const Candidate& x, const Candidate& y) {
  return x.logit != y.logit ? x.logit > y.logit : x.id < y.id;
}

// The n largest of `logits`, in order, over -infinity; fewer when there are not as many.
inline void take_largest(std::vector<Candidate>& out, std::vector<int32_t>& ids, const Kernels& kernels,
                         const float* logits, int n_vocab, size_t n) {
  constexpr int kStep = 1024;
  const size_t room = 2 * n + kStep;
  float threshold = -std::numeric_limits<float>::infinity();
  out.clear();
  ids.resize(kStep);
  const auto prune = [&] {
    if (out.size() > n) {
      std::nth_element(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n), out.end(), comes_first);
      out.resize(n);
    }
    if (out.size() == n) {
      threshold = std::min_element(out.begin(), out.end(), [](const Candidate& x, const Candidate& y) {
                    return x.logit < y.logit;
                  })->logit;
    }
  };
  for (int first = 0; first < n_vocab; first += kStep) {
    const int count =
        kernels.collect(ids.data(), logits + first, std::min(kStep, n_vocab - first), threshold, first);
    for (int i = 0; i < count; ++i) {
      out.push_back({ids[static_cast<size_t>(i)], logits[ids[static_cast<size_t>(i)]]});
    }
    if (out.size() + kStep > room || threshold == -std::numeric_limits<float>::infinity()) {
      prune();
    }
  }
  prune();
  std::sort(out.begin(), out.end(), comes_first);
}

// A row's candidates in descending order, with their weights e^((logit - largest) / temperature), ordered
// only as far as asked for.
class OrderedCandidates {
 public:
  OrderedCandidates(const Kernels& kernels, const float* logits, int n_vocab, float largest,
                    float temperature)
      : kernels_(kernels), logits_(logits), n_vocab_(n_vocab), largest_(largest), temperature_(temperature) {}

  // False when there is no candidate number `index`.
  bool has(size_t index) {
    while (index >= weights_.size() && !complete_) {
      order(std::max<size_t>(64, weights_.size() * 16));
    }
    return index < weights_.size();
  }
  float weight(size_t index) const { return weights_[index]; }
  int32_t id(size_t index) const { return candidates_[index].id; }

 private:
  void order(size_t n) {
    take_largest(candidates_, ids_, kernels_, logits_, n_vocab_, n);
    complete_ = candidates_.size() < n || n >= static_cast<size_t>(n_vocab_);
    for (size_t i = weights_.size(); i < candidates_.size(); ++i) {
      weights_.push_back(std::exp((candidates_[i].logit - largest_) / temperature_));
    }
  }

  const Kernels& kernels_;
  const float* logits_;
  const int n_vocab_;
  const float largest_;
  const float temperature_;
  bool complete_ = false;
  std::vector<Candidate> candidates_;
  std::vector<float> weights_;
  std::vector<int32_t> ids_;
};

// How many of the first candidates top_k, top_p and min_p keep (at least one), and the sum of their weights.
// `everything` is the weight of all candidates, for when none of the three cuts.
struct Kept {
  size_t count;
  float total;
};

inline Kept keep(OrderedCandidates& candidates, const PickRow& row, float everything) {
  Kept kept{std::numeric_limits<size_t>::max(), everything};
  if (row.top_k > 0) {
    kept = {0, 0.0f};
    while (kept.count < static_cast<size_t>(row.top_k) && candidates.has(kept.count)) {
      kept.total += candidates.weight(kept.count++);
    }
  }
  if (row.top_p < 1.0f) {
    Kept shortest{0, 0.0f};
    while (shortest.count < kept.count && candidates.has(shortest.count) &&
           (shortest.count == 0 || shortest.total < row.top_p * kept.total)) {
      shortest.total += candidates.weight(shortest.count++);
    }
    kept = shortest;
  }
  if (row.min_p > 0.0f) {
    Kept likely{0, 0.0f};
    while (likely.count < kept.count && candidates.has(likely.count) &&
           (likely.count == 0 || candidates.weight(likely.count) >= row.min_p * candidates.weight(0))) {
      likely.total += candidates.weight(likely.count++);
    }
    kept = likely;
  }
  return kept;
}

inline int32_t draw(OrderedCandidates& candidates, const PickRow& row, float everything) {
  const Kept kept = keep(candidates, row, everything);
  const float target = pick_noise(row.seed, row.position) * kept.total;
  float sum = 0.0f;
  int32_t last = 0;
  for (size_t i = 0; i < kept.count && candidates.has(i); ++i) {
    sum += candidates.weight(i);
    last = candidates.id(i);
    if (sum > target) {
      break;
    }
  }
  return last;
}

inline bool changes_logits(const PickRow& row) {
  return row.n_bias > 0 || row.mask >= 0 || row.repetition_penalty != 1.0f || row.presence_penalty != 0.0f ||
         row.frequency_penalty != 0.0f;
}

// Tokens of prompt or reply shrink towards less likely; those of the reply also lose a constant, and one a
// use.
inline float penalised(float logit, uint32_t count, const PickRow& row) {
  logit = logit > 0.0f ? logit / row.repetition_penalty : logit * row.repetition_penalty;
  const uint32_t uses = count & ~kCountInPrompt;
  if (uses != 0) {
    logit -= row.presence_penalty + row.frequency_penalty * static_cast<float>(uses);
  }
  return logit;
}

// Bias, penalties, mask: changed [n_vocab] from raw.
inline void change_logits(float* changed, const float* raw, const Kernels& kernels, const PickOp& op,
                          const PickRow& row, std::vector<int32_t>& ids) {
  std::copy_n(raw, row.n_vocab, changed);
  for (int i = 0; i < row.n_bias; ++i) {
    const int32_t id = op.bias_ids[row.bias_offset + i];
    if (id >= 0 && id < row.n_vocab) {
      changed[id] += op.bias_values[row.bias_offset + i];
    }
  }
  const uint32_t* const counts = op.token_counts + static_cast<int64_t>(row.lane) * op.vocab;
  ids.resize(static_cast<size_t>(row.n_vocab));
  const int n_used = kernels.collect_used(ids.data(), counts, row.n_vocab);
  for (int i = 0; i < n_used; ++i) {
    const int32_t id = ids[static_cast<size_t>(i)];
    changed[id] = penalised(changed[id], counts[id], row);
  }
  if (row.mask >= 0) {
    kernels.apply_mask(changed, op.masks + static_cast<int64_t>(row.mask) * op.mask_words, row.n_vocab);
  }
}

}  // namespace

template <class Shape>
float CpuBackend<Shape>::largest_of(const float* logits, int n_vocab) {
  const int n_chunks = (n_vocab + kVocabChunk - 1) / kVocabChunk;
  chunk_sums_.resize(static_cast<size_t>(n_chunks));
  pool_.run(n_chunks, [&](int64_t begin, int64_t end, int) {
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      const int first = static_cast<int>(chunk) * kVocabChunk;
      chunk_sums_[static_cast<size_t>(chunk)] =
          kernels_.largest(logits + first, std::min(kVocabChunk, n_vocab - first));
    }
  });
  return static_cast<float>(*std::max_element(chunk_sums_.begin(), chunk_sums_.end()));
}

template <class Shape>
double CpuBackend<Shape>::sum_exp_of(const float* logits, int n_vocab, float shift, float divisor) {
  const int n_chunks = (n_vocab + kVocabChunk - 1) / kVocabChunk;
  chunk_sums_.resize(static_cast<size_t>(n_chunks));
  pool_.run(n_chunks, [&](int64_t begin, int64_t end, int) {
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      const int first = static_cast<int>(chunk) * kVocabChunk;
      chunk_sums_[static_cast<size_t>(chunk)] =
          kernels_.sum_exp(logits + first, std::min(kVocabChunk, n_vocab - first), shift, divisor);
    }
  });
  return std::accumulate(chunk_sums_.begin(), chunk_sums_.end(), 0.0);
}

template <class Shape>
void CpuBackend<Shape>::pick_row(const PickOp& op, const PickRow& row, PickResult& result) {
  const float* const raw = op.logits + static_cast<int64_t>(row.logit_row) * op.vocab;
  result = PickResult{};
  const float largest_raw = largest_of(raw, row.n_vocab);
  if (!(largest_raw < std::numeric_limits<float>::infinity())) {
    result.status = kPickNotFinite;
    return;
  }
  std::vector<Candidate> top;
  std::vector<int32_t> ids;
  take_largest(top, ids, kernels_, raw, row.n_vocab, kTopLogprobs);
  const float* logits = raw;
  float largest = largest_raw;
  if (changes_logits(row) && row.forced_token < 0) {
    float* const changed = vocabulary_.floats(static_cast<uint64_t>(op.vocab), "changed logits");
    change_logits(changed, raw, kernels_, op, row, ids);
    logits = changed;
    largest = largest_of(changed, row.n_vocab);
  }
  if (row.forced_token >= 0) {
    result.token = row.forced_token;
  } else if (!(largest > -std::numeric_limits<float>::infinity())) {
    result.status = kPickNothingLeft;
    return;
  } else if (row.temperature > 0.0f) {
    OrderedCandidates candidates(kernels_, logits, row.n_vocab, largest, row.temperature);
    const bool needs_everything = row.top_k <= 0;
    const double everything =
        needs_everything ? sum_exp_of(logits, row.n_vocab, largest, row.temperature) : 0.0;
    result.token = draw(candidates, row, static_cast<float>(everything));
  } else if (logits == raw) {
    result.token = top.front().id;
  } else {
    std::vector<Candidate> best;
    take_largest(best, ids, kernels_, logits, row.n_vocab, 1);
    result.token = best.front().id;
  }
  const float normaliser =
      largest_raw + static_cast<float>(std::log(sum_exp_of(raw, row.n_vocab, largest_raw, 1.0f)));
  result.logprob = raw[result.token] - normaliser;
  for (size_t i = 0; i < kTopLogprobs; ++i) {
    result.top_ids[i] = i < top.size() ? top[i].id : -1;
    result.top_logprobs[i] =
        i < top.size() ? top[i].logit - normaliser : -std::numeric_limits<float>::infinity();
  }
}

// A row that fails leaves token 0 in `picked`, an id that is safe to embed, and its history as it was.
template <class Shape>
void CpuBackend<Shape>::pick(const PickOp& op) {
  for (int i = 0; i < op.n_rows; ++i) {
    const PickRow& row = op.rows[i];
    pick_row(op, row, op.results[i]);
    op.picked[row.lane] = op.results[i].token;
    if (op.results[i].status == kPickOk) {
      ++op.token_counts[static_cast<int64_t>(row.lane) * op.vocab + op.results[i].token];
    }
  }
}
