#include "engine/cache/sequence_memory.h"

#include "base/error.h"
#include "base/log.h"
#include "engine/cache/snapshot_plan.h"

#include <algorithm>

namespace orfebre {
namespace {

std::span<const int32_t> first_tokens(const Sequence& sequence, int n) {
  ORFEBRE_CHECK(n <= sequence.n_tokens());
  return std::span(sequence.tokens).first(static_cast<size_t>(n));
}

// Why so much of a prompt was taken from the cache and no more; positions and hashes only.
void trace(const Sequence& sequence, const CacheMatch& match, bool had_room) {
  const int n_prompt = sequence.n_prompt;
  const char* why = "all whole blocks but the last token's";
  if (!had_room) {
    why = "no slot free to start from it";
  } else if (match.n_common == 0) {
    why = "nothing cached begins alike";
  } else if (match.n_usable + kBlockTokens <= std::min(match.n_common, n_prompt - 1)) {
    why = "no state kept closer to where they part";
  } else if (match.n_usable + kBlockTokens <= n_prompt - 1) {
    why = "they part in the next block";
  }
  log_trace(
      "prefix cache: prompt of {} tokens, {} in common with an earlier one, {} reused (prefix {:016x}): {}",
      n_prompt, match.n_common, had_room ? match.n_usable : 0, match.hash, why);
}

}  // namespace

SequenceMemory::SequenceMemory(const Executor& executor, const EngineOptions& options)
    : enabled_(options.prefix_cache),
      stride_(options.snapshot_stride),
      traits_(executor.state_traits()),
      kv_(executor.limits().n_kv_blocks),
      slots_(executor.limits().n_state_slots),
      cache_(kv_, slots_) {}

// Evicts until so many slots and blocks are free; evicts nothing when that would not do.
bool SequenceMemory::make_room(int n_slots, int n_blocks) {
  const bool can = (slots_.n_free() >= n_slots || slots_.n_free() + cache_.n_evictable_slots() >= n_slots) &&
                   (kv_.n_free() >= n_blocks || kv_.n_free() + cache_.n_evictable_blocks() >= n_blocks);
  if (!can) {
    return false;
  }
  while (kv_.n_free() < n_blocks) {
    ORFEBRE_CHECK(cache_.evict_for_block());
  }
  while (slots_.n_free() < n_slots) {
    ORFEBRE_CHECK(cache_.evict_for_slot());
  }
  return true;
}

bool SequenceMemory::admit(Sequence& sequence, int n_spare_blocks) {
  const int n_blocks = blocks_for(sequence.n_tokens() + 1) + n_spare_blocks;
  CacheMatch match;
  if (enabled_) {
    match = cache_.find(sequence.request.cache_namespace, first_tokens(sequence, sequence.n_prompt),
                        sequence.n_prompt - 1);
  }
  CacheLease lease{{}, kNoState, 0};
  bool has_room = false;
  if (match.snapshot != nullptr) {
    lease = cache_.take(match);  // before anything is evicted
    has_room = make_room(kSlotsPerSequence, n_blocks - static_cast<int>(lease.blocks.size()));
    if (!has_room) {
      std::for_each(lease.blocks.begin(), lease.blocks.end(), [this](int32_t block) { kv_.release(block); });
      slots_.release(lease.slot);
      lease = {{}, kNoState, 0};
    }
  }
  const bool reuses = has_room;
  if (!has_room && !make_room(kSlotsPerSequence, n_blocks)) {
    return false;
  }
  sequence.blocks = std::move(lease.blocks);
  sequence.n_processed = static_cast<int>(sequence.blocks.size()) * kBlockTokens;
  while (static_cast<int>(sequence.blocks.size()) < blocks_for(sequence.n_tokens())) {
    sequence.blocks.push_back(kv_.allocate());
  }
  sequence.slots = {slots_.allocate(), slots_.allocate()};
  sequence.state_in = lease.slot;
  sequence.borrowed = lease.slot;
  sequence.state_out = sequence.slots[0];
  sequence.n_turns = lease.n_turns + 1;
  sequence.tail = 0;
  if (!enabled_) {
    return true;
  }
  sequence.planned.clear();
  const auto plan = plan_snapshots(sequence.n_processed, sequence.n_prompt, sequence.request.snapshot_at,
                                   stride_, slots_.n_total() / 4);
  sequence.planned.assign(plan.begin(), plan.end());
  if (sequence.admitted_at < 0) {
    sequence.n_cached = sequence.n_processed;
    n_hits_ += reuses ? 1 : 0;
    ++n_lookups_;
    trace(sequence, match, reuses || match.snapshot == nullptr);
  }
  return true;
}

bool SequenceMemory::grow(Sequence& sequence) {
  if (!make_room(0, 1)) {
    return false;
  }
  sequence.blocks.push_back(kv_.allocate());
  return true;
}

int SequenceMemory::next_stop(const Sequence& sequence) const {
  return sequence.planned.empty() ? sequence.n_prompt : sequence.planned.front().position;
}

void SequenceMemory::return_borrowed(Sequence& sequence) {
  if (sequence.borrowed != kNoState) {
    slots_.release(sequence.borrowed);
    sequence.borrowed = kNoState;
  }
}

// Whether the state that the sequence has reached may be kept: at the end of a block whose tokens are all
// known, and made by steps that leave the same bits whatever way the tokens came.
bool SequenceMemory::is_kept_from(const Sequence& sequence) const {
  const bool is_exact = sequence.n_processed <= sequence.n_prompt || traits_.decode_state_is_exact;
  return enabled_ && is_exact && sequence.n_processed > 0 && sequence.n_processed % kBlockTokens == 0 &&
         sequence.n_processed <= sequence.n_tokens() && sequence.state_in != sequence.borrowed;
}

void SequenceMemory::drop_tail(Sequence& sequence) {
  if (sequence.tail > 0) {
    cache_.drop_unused(sequence.request.cache_namespace, first_tokens(sequence, sequence.tail));
    sequence.tail = 0;
  }
}

void SequenceMemory::keep_state(Sequence& sequence) {
  if (sequence.state_in != sequence.borrowed) {
    return_borrowed(sequence);
  }
  const int position = sequence.n_processed;
  if (sequence.prefilling()) {
    if (!sequence.planned.empty() && sequence.planned.front().position <= position) {
      const bool is_needed = sequence.planned.front().is_needed;
      sequence.planned.pop_front();
      hand_over(sequence, is_needed);
    }
    return;
  }
  // The end of a reply is not known in advance: the state at its last multiple of 64 replaces the one before.
  if (!is_kept_from(sequence)) {
    return;
  }
  drop_tail(sequence);
  if (hand_over(sequence, true)) {
    sequence.tail = position;
  }
}

// A slot that a snapshot worth so much may cost, or kNoState.
int32_t SequenceMemory::slot_for_snapshot(double worth, bool is_needed) {
  const bool has_one =
      slots_.n_free() > 0 || (is_needed ? cache_.evict_for_slot() : cache_.evict_for_slot(worth));
  return has_one ? slots_.allocate() : kNoState;
}

bool SequenceMemory::hand_over(Sequence& sequence, bool is_needed) {
  if (!is_kept_from(sequence)) {
    return false;
  }
  const int position = sequence.n_processed;
  const uint64_t space = sequence.request.cache_namespace;
  const int n_saved = position - cache_.find(space, first_tokens(sequence, position), position).n_usable;
  if (n_saved == 0) {
    return false;  // somebody was faster
  }
  const int32_t fresh = slot_for_snapshot(cache_.worth(n_saved, sequence.n_turns), is_needed);
  if (fresh == kNoState) {
    return false;
  }
  const int32_t state = sequence.state_in;
  ORFEBRE_CHECK(
      cache_.add(space, first_tokens(sequence, position), sequence.blocks, state, sequence.n_turns));
  *std::find(sequence.slots.begin(), sequence.slots.end(), state) = fresh;
  sequence.borrowed = state;
  return true;
}

void SequenceMemory::release(Sequence& sequence) {
  // A prompt that was cut short, or a reply that ended with a block: what was read need not be read again.
  if (is_kept_from(sequence)) {
    drop_tail(sequence);
    cache_.add(sequence.request.cache_namespace, first_tokens(sequence, sequence.n_processed),
               sequence.blocks, sequence.state_in, sequence.n_turns);
  }
  return_borrowed(sequence);
  std::for_each(sequence.blocks.begin(), sequence.blocks.end(),
                [this](int32_t block) { kv_.release(block); });
  sequence.blocks.clear();
  std::for_each(sequence.slots.begin(), sequence.slots.end(), [this](int32_t slot) { slots_.release(slot); });
  sequence.slots = {kNoState, kNoState};
}

void SequenceMemory::distrust(const Sequence& sequence) {
  cache_.distrust(sequence.request.cache_namespace, sequence.tokens);
}

void SequenceMemory::report(EngineStats& stats) const {
  stats.free_kv_blocks = kv_.n_free();
  stats.total_kv_blocks = kv_.n_total();
  stats.free_state_slots = slots_.n_free();
  stats.total_state_slots = slots_.n_total();
  stats.cache_blocks = cache_.n_blocks();
  stats.cache_snapshots = cache_.n_snapshots();
  stats.cache_bytes = static_cast<uint64_t>(cache_.n_blocks()) * traits_.kv_block_bytes +
                      static_cast<uint64_t>(cache_.n_snapshots()) * traits_.state_slot_bytes;
  stats.cache_evictions = cache_.n_evicted();
  stats.cache_lookups = n_lookups_;
  stats.cache_hits = n_hits_;
}

}  // namespace orfebre
