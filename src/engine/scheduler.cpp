#include "engine/scheduler.h"

#include "engine/step_builder.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace orfebre {
namespace {

constexpr double kProgressSeconds = 0.25;  // between two progress events of a sequence

template <class Sequences>
void erase_ended(Sequences& sequences) {
  std::erase_if(sequences, [](const auto& sequence) { return sequence->ended; });
}

TokenLogprobs logprobs_of(const PickResult& picked, int n_top) {
  TokenLogprobs logprobs;
  logprobs.logprob = picked.logprob;
  for (int i = 0; i < std::min(n_top, kTopLogprobs); ++i) {
    logprobs.top.emplace_back(picked.top_ids[i], picked.top_logprobs[i]);
  }
  return logprobs;
}

// Why a pick gave no token that can be used; nullopt when it did.
std::optional<Error> pick_error(const PickResult& picked, int position, int n_vocab) {
  if (picked.status == kPickNotFinite) {
    return Error(
        ErrorKind::kBackend,
        fmt::format("the model's output at position {} is not a finite number; check the checkpoint with "
                    "`orfebre inspect`",
                    position));
  }
  if (picked.status == kPickNothingLeft) {
    return Error(ErrorKind::kInternal,
                 fmt::format("the request's constraint allows no token at position {}", position));
  }
  if (picked.status != kPickOk || picked.token < 0 || picked.token >= n_vocab) {
    return Error(ErrorKind::kInternal,
                 fmt::format("the pick at position {} must give an id below {}, found {} (status {})",
                             position, n_vocab, picked.token, picked.status));
  }
  return std::nullopt;
}

}  // namespace

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Scheduler::Scheduler(Executor& executor, const EngineOptions& options, Clock clock)
    : executor_(executor),
      run_ahead_(options.run_ahead),
      max_context_(static_cast<int>(std::min<int64_t>(
          executor.limits().max_context, int64_t{executor.limits().n_kv_blocks} * kBlockTokens))),
      n_vocab_(options.n_vocab > 0 ? std::min(options.n_vocab, executor.shape().vocab)
                                   : executor.shape().vocab),
      max_running_(std::min({kMaxLanes, executor.limits().n_state_slots / kSlotsPerSequence,
                             options.max_running > 0 ? options.max_running : kMaxLanes})),
      clock_(std::move(clock)),
      pace_(executor.limits().max_prefill_rows, options.decode_gap_seconds),
      memory_(executor, options) {
  if (max_running_ < 1 || max_context_ < 2 || executor.limits().max_prefill_rows < 1) {
    fail(ErrorKind::kInternal,
         "engine: one sequence needs 2 state slots, a context of 2 tokens and a prefill row; found {} slots, "
         "{} tokens and {} rows",
         executor.limits().n_state_slots, max_context_, executor.limits().max_prefill_rows);
  }
}

EngineStats Scheduler::stats() const {
  EngineStats stats = totals_;
  stats.running = static_cast<int>(running_.size());
  stats.waiting = static_cast<int>(waiting_.size());
  stats.max_running = max_running_;
  memory_.report(stats);
  return stats;
}

void Scheduler::enqueue(Request request, std::shared_ptr<TokenStream> stream, double submitted_at) {
  waiting_.push_back(
      std::make_unique<Sequence>(std::move(request), std::move(stream), max_context_, submitted_at));
}

void Scheduler::run_round() {
  end_cancelled();
  admit();
  prefill();
  decode();
}

void Scheduler::end_cancelled() {
  const auto end_if_cancelled = [this](const std::unique_ptr<Sequence>& sequence) {
    if (!sequence->ended && sequence->stream->cancelled().load(std::memory_order_relaxed)) {
      end(*sequence, FinishReason::kCancelled);
    }
  };
  std::for_each(running_.begin(), running_.end(), end_if_cancelled);
  std::for_each(waiting_.begin(), waiting_.end(), end_if_cancelled);
  sweep();
}

void Scheduler::admit() {
  while (!waiting_.empty() && static_cast<int>(running_.size()) < max_running_ &&
         memory_.admit(*waiting_.front(), static_cast<int>(running_.size()))) {
    running_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
    Sequence& sequence = *running_.back();
    const auto lane = std::find(lane_taken_.begin(), lane_taken_.end(), false);
    *lane = true;
    sequence.lane = static_cast<int32_t>(lane - lane_taken_.begin());
    executor_.reset_lane(sequence.lane,
                         std::span(sequence.tokens).first(static_cast<size_t>(sequence.n_prompt)));
    if (sequence.admitted_at < 0) {
      sequence.admitted_at = clock_();
      sequence.progress_at = sequence.admitted_at;
    }
  }
}

// One chunk of the oldest prompt that is not read to its end.
void Scheduler::prefill() {
  const auto next = std::find_if(running_.begin(), running_.end(),
                                 [](const auto& s) { return !s->ended && s->prefilling(); });
  if (next == running_.end()) {
    return;
  }
  Sequence* const sequence = next->get();
  const bool hurried = !decoding_sequences().empty();
  const int chunk_end = std::min(pace_.chunk_end(sequence->n_processed, sequence->n_prompt, hurried),
                                 memory_.next_stop(*sequence));
  const int rows = chunk_end - sequence->n_processed;
  const double begun_at = clock_();
  if (!executor_.forward(prefill_step(*sequence, chunk_end), &sequence->stream->cancelled())) {
    end(*sequence, FinishReason::kCancelled);
    sweep();
    return;
  }
  sequence->advance(rows);
  if (sequence->prefilling()) {
    executor_.wait();
  } else {
    launch_pick({&sequence, 1});
    collect();
  }
  keep_state(*sequence);
  const double seconds = clock_() - begun_at;
  pace_.record(rows, seconds);
  totals_.prefill_seconds += seconds;
  report_progress(*sequence);
  sweep();
}

// The next token of every reply.
void Scheduler::decode() {
  grow_blocks();
  const std::vector<Sequence*> sequences = decoding_sequences();
  const double begun_at = clock_();
  if (!sequences.empty()) {
    executor_.forward(decode_step(sequences), nullptr);
    for (Sequence* sequence : sequences) {
      sequence->advance(1);
    }
  }
  launch_pick(sequences);
  for (Sequence* sequence : sequences) {
    keep_state(*sequence);
  }
  if (!run_ahead_) {
    collect();
  }
  totals_.decode_seconds += clock_() - begun_at;
  sweep();
}

// Once the pick of its last step is launched, all tokens that a sequence has read are known.
void Scheduler::keep_state(Sequence& sequence) {
  if (!sequence.ended) {
    memory_.keep_state(sequence);
  }
}

// Whether the sequence has a next row: its last token is picked (the host may not know it yet) and is not the
// last that its limit allows.
bool Scheduler::decoding(const Sequence& sequence) const {
  return !sequence.ended && !sequence.prefilling() && sequence.n_processed + 1 < sequence.n_most;
}

std::vector<Sequence*> Scheduler::decoding_sequences() const {
  std::vector<Sequence*> sequences;
  for (const auto& sequence : running_) {
    if (decoding(*sequence)) {
      sequences.push_back(sequence.get());
    }
  }
  return sequences;
}

// A block for every reply whose next token opens one, the oldest first.
void Scheduler::grow_blocks() {
  for (size_t i = 0; i < running_.size();) {
    Sequence& sequence = *running_[i];
    if (!decoding(sequence) ||
        blocks_for(sequence.n_processed + 1) <= static_cast<int>(sequence.blocks.size())) {
      ++i;
    } else if (memory_.grow(sequence)) {
      ++i;
    } else if (!picking_.empty()) {
      collect();  // a reply may turn out to have ended
      sweep();
      i = 0;
    } else {
      preempt_youngest();
    }
  }
}

void Scheduler::preempt_youngest() {
  ORFEBRE_CHECK(running_.size() > 1);
  std::unique_ptr<Sequence> youngest = std::move(running_.back());
  running_.pop_back();
  release(*youngest);
  youngest->n_processed = 0;
  youngest->n_picked = 0;
  waiting_.push_front(std::move(youngest));
  ++totals_.preempted;
}

void Scheduler::report_progress(Sequence& sequence) {
  const double now = clock_();
  const bool reads_again = sequence.first_token_at >= 0;  // after it was sent back
  if (sequence.ended || !sequence.prefilling() || reads_again ||
      now - sequence.progress_at < kProgressSeconds) {
    return;
  }
  sequence.progress_at = now;
  TokenEvent event;
  event.prefilled_tokens = sequence.n_processed;
  sequence.stream->push(std::move(event));
}

// Reads the pick before, which may end sequences or force tokens, and launches the one of the step just
// launched: row i of its logits is sequences[i]'s.
void Scheduler::launch_pick(std::span<Sequence* const> sequences) {
  collect();
  const PickBatch batch = pick_batch(sequences, n_vocab_, executor_.shape().vocab);
  if (batch.rows.empty()) {
    return;
  }
  executor_.pick(batch);
  std::copy_if(sequences.begin(), sequences.end(), std::back_inserter(picking_),
               [](auto* s) { return !s->ended; });
}

// Waits for the launched pick and hands its tokens out.
void Scheduler::collect() {
  if (picking_.empty()) {
    return;
  }
  const std::vector<Sequence*> sequences = std::exchange(picking_, {});
  const std::span<const PickResult> results = executor_.wait();
  ORFEBRE_CHECK(results.size() == sequences.size());
  for (size_t i = 0; i < sequences.size(); ++i) {
    if (!sequences[i]->ended) {
      take(*sequences[i], results[i]);
    }
  }
}

// A chosen token: told to the policy, published, perhaps the last.
void Scheduler::take(Sequence& sequence, const PickResult& picked) {
  if (sequence.stream->cancelled().load(std::memory_order_relaxed)) {
    return end(sequence, FinishReason::kCancelled);
  }
  if (std::optional<Error> error = pick_error(picked, sequence.n_prompt + sequence.n_picked, n_vocab_)) {
    end(sequence, FinishReason::kError, std::move(error));
    if (picked.status == kPickNotFinite) {
      memory_.distrust(sequence);
    }
    return;
  }
  const bool known = sequence.replaying();
  ++sequence.n_picked;
  if (known) {
    return;
  }
  if (sequence.first_token_at < 0) {
    sequence.first_token_at = clock_();
    totals_.prompt_tokens += static_cast<uint64_t>(sequence.n_prompt);
    totals_.cached_prompt_tokens += static_cast<uint64_t>(sequence.n_cached);
  }
  if (sequence.is_stop(picked.token)) {
    return end(sequence, FinishReason::kStop);
  }
  sequence.tokens.push_back(picked.token);
  ++totals_.reply_tokens;
  if (!sequence.forced.empty()) {
    sequence.forced.pop_front();
  }
  PolicyVerdict verdict;
  if (sequence.request.policy) {
    verdict = sequence.request.policy->on_token(picked.token);
  }
  TokenEvent event;
  event.id = picked.token;
  if (sequence.request.n_top_logprobs >= 0) {
    event.logprobs = logprobs_of(picked, sequence.request.n_top_logprobs);
  }
  sequence.stream->push(std::move(event));
  if (verdict.kind == PolicyVerdict::Kind::kStop) {
    return end(sequence, FinishReason::kStop);
  }
  if (sequence.n_tokens() >= sequence.n_most) {
    return end(sequence, FinishReason::kLength);
  }
  if (verdict.kind == PolicyVerdict::Kind::kForce) {
    force(sequence, verdict.forced);
  }
}

void Scheduler::force(Sequence& sequence, std::span<const int32_t> ids) {
  for (const int32_t id : ids) {
    if (id < 0 || id >= n_vocab_) {
      return end(sequence, FinishReason::kError,
                 Error(ErrorKind::kInternal,
                       fmt::format("a policy must force ids below {}, found {}", n_vocab_, id)));
    }
  }
  sequence.forced.assign(ids.begin(), ids.end());
}

void Scheduler::end(Sequence& sequence, FinishReason reason, std::optional<Error> error) {
  release(sequence);
  sequence.ended = true;
  sequence.request.policy.reset();
  totals_.cancelled += reason == FinishReason::kCancelled ? 1 : 0;
  totals_.failed += reason == FinishReason::kError ? 1 : 0;
  totals_.finished += reason == FinishReason::kStop || reason == FinishReason::kLength ? 1 : 0;
  TokenEvent event;
  event.finish = reason;
  event.error = std::move(error);
  event.usage = sequence.usage(clock_());
  sequence.stream->push(std::move(event));
}

// Gives back what the sequence holds.
void Scheduler::release(Sequence& sequence) {
  if (sequence.lane < 0) {
    return;
  }
  memory_.release(sequence);
  lane_taken_[static_cast<size_t>(sequence.lane)] = false;
  sequence.lane = -1;
}

// Forgets ended sequences, unless a launched pick may still name them.
void Scheduler::sweep() {
  erase_ended(waiting_);
  if (picking_.empty()) {
    erase_ended(running_);
  }
}

void Scheduler::fail_all(const Error& error) {
  picking_.clear();
  for (const auto& sequence : running_) {
    if (!sequence->ended) {
      end(*sequence, FinishReason::kError, error);
    }
  }
  for (const auto& sequence : waiting_) {
    if (!sequence->ended) {
      end(*sequence, FinishReason::kError, error);
    }
  }
  sweep();
}

}  // namespace orfebre
