#include "engine/fake_executor.h"

#include "base/error.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orfebre::testing {
namespace {

constexpr uint64_t kSeedOfHistory = 0x51ed270b;
constexpr int kLayers = 4;

uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// In [0, 1).
float unit(uint64_t x) {
  return static_cast<float>(mix(x) >> 40) * 0x1p-24f;
}

void require(bool condition, const char* what) {
  if (!condition) {
    fail(ErrorKind::kInternal, "fake executor: {}", what);
  }
}

void fill_logprobs(PickResult& result, const std::vector<float>& logits, int32_t token) {
  double sum = 0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(logit));
  }
  const auto log_sum = static_cast<float>(std::log(sum));
  std::vector<int32_t> order(logits.size());
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = static_cast<int32_t>(i);
  }
  const auto logit = [&](int32_t id) { return logits[static_cast<size_t>(id)]; };
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return logit(a) > logit(b); });
  result.logprob = logit(token) - log_sum;
  for (size_t i = 0; i < kTopLogprobs && i < order.size(); ++i) {
    result.top_ids[i] = order[i];
    result.top_logprobs[i] = logit(order[i]) - log_sum;
  }
}

}  // namespace

std::vector<float> fake_logits(uint64_t history_hash, int vocab) {
  std::vector<float> logits(static_cast<size_t>(vocab));
  for (size_t i = 0; i < logits.size(); ++i) {
    logits[i] = 8.0f * unit(history_hash + 0x9e3779b97f4a7c15ull * (i + 1));
  }
  return logits;
}

uint64_t extend_history(uint64_t hash, int32_t token, int position) {
  return mix(hash * 31 + static_cast<uint64_t>(token) * 0x9e3779b97f4a7c15ull +
             static_cast<uint64_t>(position) + 1);
}

// Not the backends' sampler, but as sensitive: depends on every parameter, the lane's counts, seed and
// position.
PickResult fake_choice(const std::vector<float>& raw, const PickRow& row, const PickBatch& batch,
                       std::vector<uint32_t>& lane_counts) {
  std::vector<float> logits = raw;
  const size_t mask_words = (raw.size() + 31) / 32;
  for (int i = 0; i < row.n_bias; ++i) {
    const auto b = static_cast<size_t>(row.bias_offset + i);
    logits[static_cast<size_t>(batch.bias_ids[b])] += batch.bias_values[b];
  }
  int32_t best = -1;
  float best_score = 0;
  for (int32_t id = 0; id < row.n_vocab; ++id) {
    const auto i = static_cast<size_t>(id);
    if (row.mask >= 0 &&
        (batch.masks[static_cast<size_t>(row.mask) * mask_words + i / 32] >> (i % 32) & 1u) == 0) {
      continue;
    }
    float score = logits[i];
    const uint32_t in_reply = lane_counts[i] & ~kCountInPrompt;
    score /= lane_counts[i] != 0 ? row.repetition_penalty : 1.0f;
    score -=
        row.frequency_penalty * static_cast<float>(in_reply) + (in_reply > 0 ? row.presence_penalty : 0.0f);
    const uint64_t draw = row.seed * 7919 + static_cast<uint64_t>(row.position) * 104729 + i;
    score += row.temperature * (unit(draw) + row.top_p + row.min_p + static_cast<float>(row.top_k));
    if (best < 0 || score > best_score) {
      best = id;
      best_score = score;
    }
  }
  PickResult result{};
  result.token = row.forced_token >= 0 ? row.forced_token : best;
  if (result.token < 0) {
    result.status = kPickNothingLeft;
    return result;
  }
  fill_logprobs(result, raw, result.token);
  ++lane_counts[static_cast<size_t>(result.token)];
  return result;
}

FakeExecutor::FakeExecutor(const FakeOptions& options)
    : shape_(describe<Probe>()),
      limits_{options.max_context, options.max_prefill_rows, options.n_kv_blocks, options.n_state_slots},
      deferred_(options.deferred),
      decode_state_is_exact_(options.decode_state_is_exact),
      kv_(static_cast<size_t>(options.n_kv_blocks * kBlockTokens)),
      slots_(static_cast<size_t>(options.n_state_slots)),
      lanes_(kMaxLanes, std::vector<uint32_t>(static_cast<size_t>(options.vocab), 99)),
      picked_(kMaxLanes, -1) {
  shape_.vocab = options.vocab;
}

void FakeExecutor::poison_block(int32_t block) {
  std::fill_n(kv_.begin() + block * kBlockTokens, kBlockTokens, KvRow{-9, -9, false});
}

// What a step that did not finish leaves behind: nothing of use.
void FakeExecutor::spoil(const Step& step) {
  for (const StepSequence& sequence : step.sequences) {
    slots_[static_cast<size_t>(sequence.state_out)] = {0xbad, -7, false};
    for (int i = 0; i < sequence.n_rows; ++i) {
      const int position = step.rows[static_cast<size_t>(sequence.first_row + i)].position;
      const int block =
          step.block_tables[static_cast<size_t>(sequence.block_table + position / kBlockTokens)];
      kv_[static_cast<size_t>(block * kBlockTokens + position % kBlockTokens)] = {-9, -9, false};
    }
  }
}

// Whether a prefill goes on from what decode steps left.
bool FakeExecutor::starts_rounded(const Step& step, const StepSequence& sequence) const {
  if (step.kind == StepKind::kDecode || sequence.state_in == kNoState) {
    return false;
  }
  bool rounded = slots_[static_cast<size_t>(sequence.state_in)].is_rounded;
  const int first = step.rows[static_cast<size_t>(sequence.first_row)].position;
  for (int position = 0; position < first; ++position) {
    const int block = step.block_tables[static_cast<size_t>(sequence.block_table + position / kBlockTokens)];
    rounded = rounded || kv_[static_cast<size_t>(block * kBlockTokens + position % kBlockTokens)].is_rounded;
  }
  return rounded;
}

void FakeExecutor::run_sequence(const Step& step, const StepSequence& sequence) {
  const int first = step.rows[static_cast<size_t>(sequence.first_row)].position;
  const bool is_rounded = step.kind == StepKind::kDecode && !decode_state_is_exact_;
  State state{kSeedOfHistory, 0, false};
  if (sequence.state_in != kNoState) {
    state = slots_[static_cast<size_t>(sequence.state_in)];
  }
  const auto row_of = [&](int position) -> KvRow& {
    const int block = step.block_tables[static_cast<size_t>(sequence.block_table + position / kBlockTokens)];
    return kv_[static_cast<size_t>(block * kBlockTokens + position % kBlockTokens)];
  };
  uint64_t history = kSeedOfHistory + (starts_rounded(step, sequence) ? 1 : 0);
  bool finite = true;
  for (int position = 0; position < first; ++position) {
    history = extend_history(history, row_of(position).token, row_of(position).position);
    finite = finite && (poison_token < 0 || row_of(position).token != poison_token);
  }
  for (int i = 0; i < sequence.n_rows; ++i) {
    const auto r = static_cast<size_t>(sequence.first_row + i);
    const int position = first + i;
    int32_t token = step.rows[r].token;
    if (token == kTokenFromPick) {
      token = picked_[static_cast<size_t>(sequence.lane)];
    }
    row_of(position) = {token, position, is_rounded};
    history = extend_history(history, token, position);
    state = {extend_history(state.hash, token, state.n_tokens), state.n_tokens + 1, is_rounded};
    finite = finite && (poison_token < 0 || token != poison_token);
    // Equal only if the cache and the state tell the same story.
    row_hashes_[r] = history == state.hash ? history : mix(history ^ state.hash);
    row_finite_[r] = finite;
  }
  slots_[static_cast<size_t>(sequence.state_out)] = state;
}

bool FakeExecutor::forward(const Step& step, const std::atomic<bool>* cancel) {
  if (thread_ == std::thread::id{}) {
    thread_ = std::this_thread::get_id();
  }
  require(thread_ == std::this_thread::get_id(), "called from one thread only");
  validate_step(step, shape_, limits_);
  if (keep_steps) {
    steps.push_back(step);
  }
  spoil(step);
  for (int layer = 0; layer < kLayers; ++layer) {
    if (on_layer) {
      on_layer(step, layer);
    }
    if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) {
      return false;
    }
  }
  row_hashes_.assign(step.rows.size(), 0);
  row_finite_.assign(step.rows.size(), true);
  logit_rows_ = step.logit_rows;
  for (const StepSequence& sequence : step.sequences) {
    run_sequence(step, sequence);
  }
  return true;
}

void FakeExecutor::pick(const PickBatch& batch) {
  if (on_pick) {
    on_pick(batch);
  }
  require(!batch.rows.empty() && batch.rows.size() <= kMaxDecodeRows, "a pick has 1 to 8 rows");
  results_.clear();
  for (const PickRow& row : batch.rows) {
    require(row.logit_row >= 0 && row.logit_row < static_cast<int>(logit_rows_.size()),
            "a pick row has logits");
    require(row.lane >= 0 && row.lane < kMaxLanes && row.forced_token < shape_.vocab,
            "a pick row is in range");
    require(row.forced_token < 0 || row.mask < 0,
            "a policy is not asked for a mask that a forced token overrides");
    const auto r = static_cast<size_t>(logit_rows_[static_cast<size_t>(row.logit_row)]);
    std::vector<uint32_t>& counts = lanes_[static_cast<size_t>(row.lane)];
    PickResult result = fake_choice(fake_logits(row_hashes_[r], shape_.vocab), row, batch, counts);
    if (!row_finite_[r]) {
      result.status = kPickNotFinite;
    }
    picked_[static_cast<size_t>(row.lane)] = result.token;
    results_.push_back(result);
  }
  if (deferred_) {
    known_.assign(results_.size(), PickResult{});
  } else {
    known_ = results_;
  }
}

std::span<const PickResult> FakeExecutor::wait() {
  known_ = results_;
  return known_;
}

void FakeExecutor::reset_lane(int lane, std::span<const int32_t> prompt) {
  std::vector<uint32_t>& counts = lanes_[static_cast<size_t>(lane)];
  counts.assign(counts.size(), 0);
  for (const int32_t id : prompt) {
    counts[static_cast<size_t>(id)] = kCountInPrompt;
  }
}

void FakeExecutor::copy_state(int to_slot, int from_slot) {
  slots_[static_cast<size_t>(to_slot)] = slots_[static_cast<size_t>(from_slot)];
}

ExpectedReply expected_reply(const Request& request, const PolicyMaker& make_policy, int max_context,
                             int vocab, int n_vocab) {
  ExpectedReply reply;
  const SamplingParams& s = request.sampling;
  const std::unique_ptr<TokenPolicy> policy = make_policy ? make_policy() : nullptr;
  std::vector<uint32_t> counts(static_cast<size_t>(vocab), 0);
  std::vector<int32_t> forced;
  uint64_t history = kSeedOfHistory;
  int position = 0;
  for (const int32_t id : request.prompt) {
    history = extend_history(history, id, position++);
    counts[static_cast<size_t>(id)] = kCountInPrompt;
  }
  for (;;) {
    PickBatch batch;
    const bool masked = policy && forced.empty() && policy->wants_mask();
    if (masked) {
      batch.masks.assign((static_cast<size_t>(vocab) + 31) / 32, 0);
      policy->fill_mask(batch.masks);
    }
    for (const auto& [id, value] : s.logit_bias) {
      batch.bias_ids.push_back(id);
      batch.bias_values.push_back(value);
    }
    const PickRow row{s.seed,
                      0,
                      0,
                      position,
                      forced.empty() ? -1 : forced.front(),
                      n_vocab,
                      s.top_k,
                      s.temperature,
                      s.top_p,
                      s.min_p,
                      s.repetition_penalty,
                      s.presence_penalty,
                      s.frequency_penalty,
                      0,
                      static_cast<int32_t>(s.logit_bias.size()),
                      masked ? 0 : -1};
    const int32_t token = fake_choice(fake_logits(history, vocab), row, batch, counts).token;
    if (std::count(request.stop_ids.begin(), request.stop_ids.end(), token) > 0) {
      reply.finish = FinishReason::kStop;
      return reply;
    }
    if (!forced.empty()) {
      forced.erase(forced.begin());
    }
    reply.tokens.push_back(token);
    const PolicyVerdict verdict = policy ? policy->on_token(token) : PolicyVerdict{};
    if (verdict.kind == PolicyVerdict::Kind::kStop) {
      reply.finish = FinishReason::kStop;
      return reply;
    }
    const int n_reply = static_cast<int>(reply.tokens.size());
    if (n_reply == request.max_tokens || static_cast<int>(request.prompt.size()) + n_reply == max_context) {
      reply.finish = FinishReason::kLength;
      return reply;
    }
    if (verdict.kind == PolicyVerdict::Kind::kForce) {
      forced = verdict.forced;
    }
    history = extend_history(history, token, position++);
  }
}

}  // namespace orfebre::testing
