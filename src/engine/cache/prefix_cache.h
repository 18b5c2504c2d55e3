// What is left of earlier prompts and replies: a tree of KV blocks, and snapshots of the recurrent state at
// some of its nodes. A node is 64 tokens; the way from the root to it spells a prefix. Children are found by
// a hash of their prefix and compared token by token. A prompt can start after any prefix that has a
// snapshot, for the state cannot be rewound: blocks behind the last snapshot are of no use, so every leaf has
// one.
//
// Prefixes are whole blocks on purpose. A shared block is then never written again, and a prompt that differs
// from a cached one reads at most 63 tokens more than those that differ.
//
// Memory belongs to the pools: the cache is one user of its blocks and slots, sequences that started from
// them are others. Whatever the cache alone uses can be had by evicting. Evicted first is what is worth
// least: the tokens that would have to be read again, times the turns that its conversation has had, counted
// from the worth of what was last evicted when it was last used (GreedyDual). So what is old, cheap or never
// came back goes, and a chat of many turns outlives passing requests.
//
// Spaces are apart: a prefix is only found in the space in which it was added.
#pragma once

#include "engine/kv_pool.h"
#include "engine/state_slots.h"

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace orfebre {

struct CacheNode;

// Of a block of tokens and the hash of all before it.
using BlockHash = uint64_t (*)(uint64_t parent_hash, std::span<const int32_t> block);
uint64_t xxh3_block_hash(uint64_t parent_hash, std::span<const int32_t> block);

// What of a prompt the cache knows.
struct CacheMatch {
  CacheNode* snapshot = nullptr;  // valid until the cache changes
  int n_usable = 0;               // tokens before the snapshot; 0: none
  int n_common = 0;               // tokens that the prompt and a cached prefix have in common
  uint64_t hash = 0;              // of the usable tokens and the space
};

// Shares of a match, released by their owner to the pools.
struct CacheLease {
  std::vector<int32_t> blocks;  // of the usable tokens
  int32_t slot;                 // the state after them
  int n_turns;                  // of the conversation so far
};

class PrefixCache {
 public:
  // The pools must outlive the cache. Any hash is right, if not quick.
  PrefixCache(KvPool& kv, StateSlots& slots, BlockHash hash = xxh3_block_hash);
  ~PrefixCache();
  PrefixCache(const PrefixCache&) = delete;
  PrefixCache& operator=(const PrefixCache&) = delete;

  // The longest prefix of `tokens`, of at most `n_most`, that has a snapshot.
  CacheMatch find(uint64_t space, std::span<const int32_t> tokens, int n_most) const;
  // Takes shares of what was found, which must not be nothing.
  CacheLease take(const CacheMatch& match);

  // Adds `tokens`, whole blocks, with the state after them: shares `slot`, and of `blocks` those that are
  // new. False, and nothing shared, when a snapshot is there already.
  bool add(uint64_t space, std::span<const int32_t> tokens, std::span<const int32_t> blocks, int32_t slot,
           int n_turns);
  // Gives up the snapshot after exactly `tokens` if there is one from which nobody ever started.
  void drop_unused(uint64_t space, std::span<const int32_t> tokens);
  // Gives up every snapshot of a prefix of `tokens`: their state is not to be trusted.
  void distrust(uint64_t space, std::span<const int32_t> tokens);
  void clear();

  // What a snapshot that saves `n_tokens` would be worth now.
  double worth(int n_tokens, int n_turns) const;
  // Gives up the snapshot that is worth least among those whose slot becomes free; false when there is none
  // that is worth less than `limit`.
  bool evict_for_slot(double limit = std::numeric_limits<double>::infinity());
  // Gives up the leaf that is worth least; false when there is none.
  bool evict_for_block();

  // What evicting everything would make free.
  int n_evictable_slots() const;
  int n_evictable_blocks() const;

  int n_snapshots() const { return static_cast<int>(snapshots_.size()); }
  int n_blocks() const { return n_blocks_; }
  uint64_t n_evicted() const { return n_evicted_; }  // snapshots, since the start

 private:
  CacheNode* child_of(const CacheNode& node, std::span<const int32_t> block) const;
  CacheNode* walk(uint64_t space, std::span<const int32_t> tokens) const;
  void add_child(CacheNode& parent, std::span<const int32_t> tokens, int32_t block);
  double worth(const CacheNode& node) const;
  void evict(CacheNode& node);
  void give_up(CacheNode& node);
  void prune(CacheNode* node);

  KvPool& kv_;
  StateSlots& slots_;
  BlockHash hash_;
  std::map<uint64_t, std::unique_ptr<CacheNode>> roots_;  // by space
  std::vector<CacheNode*> snapshots_;  // last used last: among equals the oldest is evicted
  int n_blocks_ = 0;
  double floor_ = 0;  // worth of the snapshot evicted last
  uint64_t n_evicted_ = 0;
};

}  // namespace orfebre
