// What sequences hold of the model's memory: KV blocks and state slots, their own or shared with the prefix
// cache. Hands out, takes snapshots on the way, takes back. Who runs when is the scheduler's business.
//
// The cache fills what nobody else uses. A sequence that wants memory has it: cached prefixes are evicted
// first, and a request is never refused or sent back because of them.
//
// A snapshot is a slot handed over. The sequence goes on reading it as its state_in, as a user beside the
// cache, until its next step, and writes to a fresh slot instead.
#pragma once

#include "engine/cache/prefix_cache.h"
#include "engine/engine.h"
#include "engine/sequence.h"

namespace orfebre {

class SequenceMemory {
 public:
  SequenceMemory(const Executor& executor, const EngineOptions& options);

  // Gives a waiting sequence two slots and blocks for its tokens, the longest cached prefix of its prompt
  // among them. False, and nothing changed, when that and `n_spare_blocks` more cannot be had now.
  bool admit(Sequence& sequence, int n_spare_blocks);
  // One block more; false when none can be had.
  bool grow(Sequence& sequence);
  // Where a chunk of the prompt must end at the latest, so that the state there can be kept.
  int next_stop(const Sequence& sequence) const;
  // After Sequence::advance, once the tokens read are known: keeps the state if it is wanted.
  void keep_state(Sequence& sequence);
  // Takes everything back. What was read so far stays in the cache.
  void release(Sequence& sequence);
  // The sequence's output was not finite: no state that it started from or left behind is to be used again.
  void distrust(const Sequence& sequence);
  void clear_cache() { cache_.clear(); }

  void report(EngineStats& stats) const;
  const KvPool& kv() const { return kv_; }
  const StateSlots& slots() const { return slots_; }

 private:
  bool make_room(int n_slots, int n_blocks);
  bool is_kept_from(const Sequence& sequence) const;
  void return_borrowed(Sequence& sequence);
  void drop_tail(Sequence& sequence);
  bool hand_over(Sequence& sequence, bool is_needed);
  int32_t slot_for_snapshot(double worth, bool is_needed);

  const bool enabled_;
  const int stride_;
  const StateTraits traits_;
  KvPool kv_;
  StateSlots slots_;
  PrefixCache cache_;  // a user of both pools
  uint64_t n_lookups_ = 0;
  uint64_t n_hits_ = 0;
};

}  // namespace orfebre
