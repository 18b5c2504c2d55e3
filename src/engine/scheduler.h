// Which sequence runs when, and with whose memory. One thread uses it. It works in rounds; a round is at most
// one chunk of one prompt, then one token for every running reply.
//
// - Requests are admitted first come, first served, as soon as the head of the queue finds a lane, two state
//   slots and KV blocks for its prompt and, lest it be sent back at once, one block more for itself (where
//   its prompt fills its last one) and one for each sequence that runs already.
// - A reply's KV blocks are allocated as it grows, since most replies end long before their limit. When none
//   is left the youngest sequence goes back to the head of the queue and gives up its memory; once admitted
//   again it reads its prompt in the same way and picks the tokens that it already has one by one, so its
//   reply is the same in every bit. The oldest never goes back, and alone it always fits: every request ends.
// - What a request has in common with earlier ones is not read again: see cache/sequence_memory.h.
// - With run_ahead a step is launched before the tokens of the step before are known to the host. A row
//   whose reply turns out to have ended does no harm: its state went to a slot that is dropped.
#pragma once

#include "engine/cache/sequence_memory.h"
#include "engine/engine.h"
#include "engine/prefill_pace.h"
#include "engine/sequence.h"

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace orfebre {

double steady_seconds();

class Scheduler {
 public:
  using Clock = std::function<double()>;  // seconds

  // Throws Error(kInternal) when the executor has not the memory for one sequence.
  Scheduler(Executor& executor, const EngineOptions& options, Clock clock = steady_seconds);

  int max_context() const { return max_context_; }
  int n_vocab() const { return n_vocab_; }
  int max_running() const { return max_running_; }
  bool idle() const { return running_.empty() && waiting_.empty(); }
  EngineStats stats() const;
  const SequenceMemory& memory() const { return memory_; }
  // Forgets all cached prefixes.
  void clear_cache() { memory_.clear_cache(); }

  // The request has been validated: Engine::submit says what that means.
  void enqueue(Request request, std::shared_ptr<TokenStream> stream, double submitted_at);
  void run_round();
  // Ends everything with this error and touches the executor no more.
  void fail_all(const Error& error);

 private:
  // A round, in this order.
  void end_cancelled();
  void admit();
  void prefill();
  void decode();

  void keep_state(Sequence& sequence);
  void grow_blocks();
  void preempt_youngest();
  bool decoding(const Sequence& sequence) const;
  std::vector<Sequence*> decoding_sequences() const;
  void report_progress(Sequence& sequence);

  void launch_pick(std::span<Sequence* const> sequences);
  void collect();
  void take(Sequence& sequence, const PickResult& picked);
  void force(Sequence& sequence, std::span<const int32_t> ids);
  void end(Sequence& sequence, FinishReason reason, std::optional<Error> error = std::nullopt);
  void release(Sequence& sequence);
  void sweep();

  Executor& executor_;
  const bool run_ahead_;
  const int max_context_;
  const int n_vocab_;
  const int max_running_;
  Clock clock_;
  PrefillPace pace_;

  SequenceMemory memory_;
  std::array<bool, kMaxLanes> lane_taken_{};
  std::vector<std::unique_ptr<Sequence>> running_;  // oldest first, all older than those waiting
  std::deque<std::unique_ptr<Sequence>> waiting_;   // oldest first
  std::vector<Sequence*> picking_;                  // whose tokens the launched pick will give, in its order
  EngineStats totals_;
};

}  // namespace orfebre
