// A row of logits becomes a token (backend/pick_params.h, PickRow): bias, penalties, mask; the largest if the
// temperature is 0; otherwise top_k, top_p, min_p in this order, each over what the one before left, and a
// draw by inverse transform over the survivors in descending order. Logprobs are of the raw logits.
#include "backend/reference/ops.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace orfebre::reference {
namespace {

struct Candidate {
  int32_t id;
  float logit;
};

bool comes_first(const Candidate& x, const Candidate& y) {
  return x.logit != y.logit ? x.logit > y.logit : x.id < y.id;
}

bool all_usable(const float* logits, int n_vocab) {
  return std::all_of(logits, logits + n_vocab, [](float x) { return x < INFINITY; });  // false for NaN too
}

// ln(sum(e^x)); the sum of up to 248,320 terms runs in double.
float log_sum_exp(const float* logits, int n_vocab) {
  const float largest = *std::max_element(logits, logits + n_vocab);
  double sum = 0.0;
  for (int i = 0; i < n_vocab; ++i) {
    sum += std::exp(static_cast<double>(logits[i]) - largest);
  }
  return largest + static_cast<float>(std::log(sum));
}

void fill_top(PickResult& result, const float* logits, int n_vocab, float normaliser) {
  std::vector<Candidate> order;
  for (int32_t id = 0; id < n_vocab; ++id) {
    order.push_back({id, logits[id]});
  }
  const int n_top = std::min(kTopLogprobs, n_vocab);
  std::partial_sort(order.begin(), order.begin() + n_top, order.end(), comes_first);
  for (int i = 0; i < kTopLogprobs; ++i) {
    result.top_ids[i] = i < n_top ? order[static_cast<size_t>(i)].id : -1;
    result.top_logprobs[i] = i < n_top ? order[static_cast<size_t>(i)].logit - normaliser : -INFINITY;
  }
}

// repetition: logits of tokens seen in prompt or reply shrink towards less likely; presence and frequency:
// minus a constant, and minus a constant a use, for tokens of the reply.
float penalised(float logit, uint32_t count, const PickRow& row) {
  if (count != 0) {
    logit = logit > 0.0f ? logit / row.repetition_penalty : logit * row.repetition_penalty;
  }
  const uint32_t uses = count & ~kCountInPrompt;
  if (uses != 0) {
    logit -= row.presence_penalty + row.frequency_penalty * static_cast<float>(uses);
  }
  return logit;
}

// Tokens that may be chosen, with their changed logits, in the order of ids.
std::vector<Candidate> candidates_of(const PickOp& op, const PickRow& row, const float* raw) {
  std::vector<float> logits(raw, raw + row.n_vocab);
  for (int i = 0; i < row.n_bias; ++i) {
    const int32_t id = op.bias_ids[row.bias_offset + i];
    if (id >= 0 && id < row.n_vocab) {
      logits[static_cast<size_t>(id)] += op.bias_values[row.bias_offset + i];
    }
  }
  const uint32_t* counts = op.token_counts + int64_t{row.lane} * op.vocab;
  const uint32_t* mask = row.mask < 0 ? nullptr : op.masks + int64_t{row.mask} * op.mask_words;
  std::vector<Candidate> candidates;
  for (int32_t id = 0; id < row.n_vocab; ++id) {
    const bool allowed = mask == nullptr || ((mask[id / 32] >> (id % 32)) & 1u) != 0;
    const float logit = penalised(logits[static_cast<size_t>(id)], counts[id], row);
    if (allowed && logit > -INFINITY) {
      candidates.push_back({id, logit});
    }
  }
  return candidates;
}

// Weights e^((logit - largest) / temperature) of candidates in descending order; the first is 1.
std::vector<float> weights_of(const std::vector<Candidate>& ordered, float temperature) {
  std::vector<float> weights;
  for (const Candidate& candidate : ordered) {
    weights.push_back(std::exp((candidate.logit - ordered.front().logit) / temperature));
  }
  return weights;
}

// How many of the first candidates top_k, top_p and min_p keep; at least one.
size_t n_kept(const std::vector<float>& weights, const PickRow& row) {
  size_t n = row.top_k > 0 ? std::min(weights.size(), static_cast<size_t>(row.top_k)) : weights.size();
  if (row.top_p < 1.0f) {
    const float total =
        std::accumulate(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(n), 0.0f);
    float sum = 0.0f;
    size_t shortest = 0;
    while (shortest < n && (shortest == 0 || sum < row.top_p * total)) {
      sum += weights[shortest++];
    }
    n = shortest;
  }
  while (n > 1 && weights[n - 1] < row.min_p * weights.front()) {
    --n;
  }
  return n;
}

int32_t draw(std::vector<Candidate> candidates, const PickRow& row) {
  std::sort(candidates.begin(), candidates.end(), comes_first);
  const std::vector<float> weights = weights_of(candidates, row.temperature);
  const size_t n = n_kept(weights, row);
  const float total =
      std::accumulate(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(n), 0.0f);
  const float target = pick_noise(row.seed, row.position) * total;
  float sum = 0.0f;
  for (size_t i = 0; i < n; ++i) {
    sum += weights[i];
    if (sum > target) {
      return candidates[i].id;
    }
  }
  return candidates[n - 1].id;
}

PickResult pick_row(const PickOp& op, const PickRow& row) {
  const float* const raw = op.logits + int64_t{row.logit_row} * op.vocab;
  PickResult result{};
  if (!all_usable(raw, row.n_vocab)) {
    result.status = kPickNotFinite;
    return result;
  }
  const std::vector<Candidate> candidates = candidates_of(op, row, raw);
  if (row.forced_token >= 0) {
    result.token = row.forced_token;
  } else if (candidates.empty()) {
    result.status = kPickNothingLeft;
    return result;
  } else if (row.temperature > 0.0f) {
    result.token = draw(candidates, row);
  } else {
    result.token = std::min_element(candidates.begin(), candidates.end(), comes_first)->id;
  }
  const float normaliser = log_sum_exp(raw, row.n_vocab);
  result.logprob = raw[result.token] - normaliser;
  fill_top(result, raw, row.n_vocab, normaliser);
  return result;
}

}  // namespace

// A row that fails leaves token 0 in `picked`, an id that is safe to embed, and its history as it was.
void pick(const PickOp& op) {
  for (int i = 0; i < op.n_rows; ++i) {
    const PickRow& row = op.rows[i];
    op.results[i] = pick_row(op, row);
    op.picked[row.lane] = op.results[i].token;
    if (op.results[i].status == kPickOk) {
      ++op.token_counts[int64_t{row.lane} * op.vocab + op.results[i].token];
    }
  }
}

}  // namespace orfebre::reference
