#include "engine/cache/prefix_cache.h"

#include "base/error.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <functional>

namespace orfebre {

struct CacheNode {
  CacheNode* parent = nullptr;  // null: a root, which has no tokens and no block
  std::vector<std::unique_ptr<CacheNode>> children;
  std::array<int32_t, kBlockTokens> tokens{};
  uint64_t hash = 0;  // of all tokens from the root, and the space
  int depth = 0;      // blocks from the root, this one included
  int32_t block = -1;

  // The snapshot.
  int32_t slot = -1;  // -1: none
  int n_turns = 0;
  double floor = 0;           // PrefixCache::floor_ when it was last used
  bool ever_started = false;  // a sequence has started from it

  bool has_snapshot() const { return slot >= 0; }
};

namespace {

constexpr int kMostTurns = 8;  // more make a conversation no dearer

std::span<const int32_t> block_of(std::span<const int32_t> tokens, int index) {
  return tokens.subspan(static_cast<size_t>(index) * kBlockTokens, kBlockTokens);
}

// Tokens of `rest` that some child begins with.
int common_with_children(const CacheNode& node, std::span<const int32_t> rest) {
  int longest = 0;
  for (const auto& child : node.children) {
    const auto length = std::min(rest.size(), child->tokens.size());
    const auto [end, unused] = std::mismatch(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(length),
                                             child->tokens.begin());
    longest = std::max(longest, static_cast<int>(end - rest.begin()));
  }
  return longest;
}

// Tokens from the last snapshot before this node to it.
int tokens_saved(const CacheNode& node) {
  const CacheNode* before = node.parent;
  while (before->parent != nullptr && !before->has_snapshot()) {
    before = before->parent;
  }
  return (node.depth - before->depth) * kBlockTokens;
}

// Calls visit(node) for every node below `node`.
template <class Visit>
void visit_below(const CacheNode& node, const Visit& visit) {
  for (const auto& child : node.children) {
    visit(*child);
    visit_below(*child, visit);
  }
}

}  // namespace

uint64_t xxh3_block_hash(uint64_t parent_hash, std::span<const int32_t> block) {
  return XXH3_64bits_withSeed(block.data(), block.size_bytes(), parent_hash);
}

PrefixCache::PrefixCache(KvPool& kv, StateSlots& slots, BlockHash hash)
    : kv_(kv), slots_(slots), hash_(hash) {}

PrefixCache::~PrefixCache() {
  clear();
}

CacheNode* PrefixCache::child_of(const CacheNode& node, std::span<const int32_t> block) const {
  const uint64_t hash = hash_(node.hash, block);
  const auto child = std::find_if(node.children.begin(), node.children.end(), [&](const auto& c) {
    return c->hash == hash && std::equal(block.begin(), block.end(), c->tokens.begin());
  });
  return child == node.children.end() ? nullptr : child->get();
}

// The deepest node on the way of `tokens`; null in an empty space.
CacheNode* PrefixCache::walk(uint64_t space, std::span<const int32_t> tokens) const {
  const auto root = roots_.find(space);
  if (root == roots_.end()) {
    return nullptr;
  }
  CacheNode* node = root->second.get();
  while ((static_cast<size_t>(node->depth) + 1) * kBlockTokens <= tokens.size()) {
    CacheNode* const child = child_of(*node, block_of(tokens, node->depth));
    if (child == nullptr) {
      break;
    }
    node = child;
  }
  return node;
}

CacheMatch PrefixCache::find(uint64_t space, std::span<const int32_t> tokens, int n_most) const {
  CacheMatch match;
  CacheNode* node = walk(space, tokens);
  if (node == nullptr) {
    return match;
  }
  const int whole = node->depth * kBlockTokens;
  match.n_common = whole + common_with_children(*node, tokens.subspan(static_cast<size_t>(whole)));
  while (node->parent != nullptr && (!node->has_snapshot() || node->depth * kBlockTokens > n_most)) {
    node = node->parent;
  }
  if (node->parent != nullptr) {
    match.snapshot = node;
    match.n_usable = node->depth * kBlockTokens;
    match.hash = node->hash;
  }
  return match;
}

CacheLease PrefixCache::take(const CacheMatch& match) {
  CacheNode& snapshot = *match.snapshot;
  CacheLease lease{std::vector<int32_t>(static_cast<size_t>(snapshot.depth)), snapshot.slot,
                   snapshot.n_turns};
  for (const CacheNode* node = &snapshot; node->parent != nullptr; node = node->parent) {
    kv_.share(node->block);
    lease.blocks[static_cast<size_t>(node->depth) - 1] = node->block;
  }
  slots_.share(snapshot.slot);
  snapshot.floor = floor_;
  snapshot.ever_started = true;
  std::erase(snapshots_, &snapshot);
  snapshots_.push_back(&snapshot);
  return lease;
}

bool PrefixCache::add(uint64_t space, std::span<const int32_t> tokens, std::span<const int32_t> blocks,
                      int32_t slot, int n_turns) {
  const auto n_blocks = static_cast<int>(tokens.size()) / kBlockTokens;
  ORFEBRE_CHECK(n_blocks > 0 && static_cast<int>(tokens.size()) == n_blocks * kBlockTokens);
  ORFEBRE_CHECK(static_cast<int>(blocks.size()) >= n_blocks);
  std::unique_ptr<CacheNode>& root = roots_[space];
  if (root == nullptr) {
    root = std::make_unique<CacheNode>();
    root->hash = space;
  }
  CacheNode* node = walk(space, tokens);
  if (node->depth == n_blocks && node->has_snapshot()) {
    return false;
  }
  while (node->depth < n_blocks) {
    add_child(*node, block_of(tokens, node->depth), blocks[static_cast<size_t>(node->depth)]);
    node = node->children.back().get();
  }
  slots_.share(slot);
  node->slot = slot;
  node->n_turns = n_turns;
  node->floor = floor_;
  node->ever_started = false;
  snapshots_.push_back(node);
  return true;
}

void PrefixCache::add_child(CacheNode& parent, std::span<const int32_t> tokens, int32_t block) {
  auto child = std::make_unique<CacheNode>();
  child->parent = &parent;
  std::copy(tokens.begin(), tokens.end(), child->tokens.begin());
  child->hash = hash_(parent.hash, tokens);
  child->depth = parent.depth + 1;
  child->block = block;
  kv_.share(block);
  ++n_blocks_;
  parent.children.push_back(std::move(child));
}

void PrefixCache::drop_unused(uint64_t space, std::span<const int32_t> tokens) {
  CacheNode* const node = walk(space, tokens);
  if (node != nullptr && node->depth * kBlockTokens == static_cast<int>(tokens.size()) &&
      node->has_snapshot() && !node->ever_started) {
    give_up(*node);
  }
}

void PrefixCache::distrust(uint64_t space, std::span<const int32_t> tokens) {
  for (CacheMatch match = find(space, tokens, static_cast<int>(tokens.size())); match.snapshot != nullptr;
       match = find(space, tokens, static_cast<int>(tokens.size()))) {
    give_up(*match.snapshot);
  }
}

void PrefixCache::clear() {
  while (!snapshots_.empty()) {
    give_up(*snapshots_.back());
  }
}

double PrefixCache::worth(int n_tokens, int n_turns) const {
  return floor_ + static_cast<double>(n_tokens) * std::clamp(n_turns, 1, kMostTurns);
}

double PrefixCache::worth(const CacheNode& node) const {
  return node.floor + static_cast<double>(tokens_saved(node)) * std::clamp(node.n_turns, 1, kMostTurns);
}

bool PrefixCache::evict_for_slot(double limit) {
  CacheNode* least = nullptr;
  double least_worth = limit;
  for (CacheNode* node : snapshots_) {
    if (slots_.n_users(node->slot) == 1 && worth(*node) < least_worth) {
      least = node;
      least_worth = worth(*node);
    }
  }
  if (least != nullptr) {
    evict(*least);
  }
  return least != nullptr;
}

// A leaf whose last block is in use elsewhere usually has no block to give, and comes last. (It has some
// where its sequence read blocks of its own before somebody else's were added for the same tokens.)
bool PrefixCache::evict_for_block() {
  CacheNode* least = nullptr;
  std::pair<bool, double> least_rank;
  for (CacheNode* node : snapshots_) {
    const std::pair rank{kv_.n_users(node->block) > 1, worth(*node)};
    if (node->children.empty() && (least == nullptr || rank < least_rank)) {
      least = node;
      least_rank = rank;
    }
  }
  if (least != nullptr) {
    evict(*least);
  }
  return least != nullptr;
}

void PrefixCache::evict(CacheNode& node) {
  floor_ = std::max(floor_, worth(node));
  ++n_evicted_;
  give_up(node);
}

// Releases the snapshot, and the blocks that are of no use without it.
void PrefixCache::give_up(CacheNode& node) {
  slots_.release(node.slot);
  node.slot = -1;
  std::erase(snapshots_, &node);
  prune(&node);
}

void PrefixCache::prune(CacheNode* node) {
  while (node->parent != nullptr && node->children.empty() && !node->has_snapshot()) {
    CacheNode* const parent = node->parent;
    kv_.release(node->block);
    --n_blocks_;
    std::erase_if(parent->children, [node](const auto& child) { return child.get() == node; });
    node = parent;
  }
  if (node->parent == nullptr && node->children.empty()) {
    std::erase_if(roots_, [node](const auto& root) { return root.second.get() == node; });
  }
}

int PrefixCache::n_evictable_slots() const {
  return static_cast<int>(std::count_if(snapshots_.begin(), snapshots_.end(), [this](const CacheNode* node) {
    return slots_.n_users(node->slot) == 1;
  }));
}

int PrefixCache::n_evictable_blocks() const {
  int n = 0;
  for (const auto& [space, root] : roots_) {
    visit_below(*root, [&](const CacheNode& node) { n += kv_.n_users(node.block) == 1 ? 1 : 0; });
  }
  return n;
}

}  // namespace orfebre
