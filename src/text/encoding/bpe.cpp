#include "text/encoding/bpe.h"

#include "base/error.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <queue>
#include <utility>

namespace orfebre::text {
namespace {

// Below this many bytes a scan for the lowest rank beats a heap.
constexpr size_t kShortPieceBytes = 48;
constexpr int32_t kNoRank = INT32_MAX;
constexpr uint64_t kGolden = 0x9E3779B97F4A7C15u;

uint64_t pair_key(int32_t left, int32_t right) {
  return (static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32) | static_cast<uint32_t>(right);
}

size_t hash_bytes(std::string_view bytes) {
  return std::hash<std::string_view>{}(bytes);
}

}  // namespace

Bpe::Bpe(std::vector<Token> tokens, int32_t n_ids, const std::vector<Merge>& merges)
    : tokens_(std::move(tokens)) {
  ORFEBRE_CHECK(n_ids >= 256);
  slots_.assign(std::bit_ceil(tokens_.size() * 2 + 1), kNone);
  for (size_t t = 0; t < tokens_.size(); ++t) {
    const std::string& bytes = tokens_[t].bytes;
    longest_bytes_ = std::max(longest_bytes_, bytes.size());
    size_t slot = hash_bytes(bytes) & (slots_.size() - 1);
    while (slots_[slot] != kNone) {
      slot = (slot + 1) & (slots_.size() - 1);
    }
    slots_[slot] = static_cast<int32_t>(t);
  }
  whole_ = std::make_unique<std::atomic<uint8_t>[]>(tokens_.size());

  const size_t n_slots = std::bit_ceil(merges.size() * 2 + 2);
  merges_.resize(n_slots);
  merge_shift_ = 64 - std::countr_zero(n_slots);
  for (size_t m = 0; m < merges.size(); ++m) {
    insert_merge(merges[m], static_cast<int32_t>(m));
  }

  for (int b = 0; b < 256; ++b) {
    const char byte = static_cast<char>(b);
    byte_ids_[static_cast<size_t>(b)] = find(std::string_view(&byte, 1));
    ORFEBRE_CHECK(byte_ids_[static_cast<size_t>(b)] != kNone);
  }
}

void Bpe::insert_merge(const Merge& merge, int32_t rank) {
  const uint64_t key = pair_key(merge.left, merge.right);
  size_t slot = (key * kGolden) >> merge_shift_;
  while (merges_[slot].pair != kEmptyPair && merges_[slot].pair != key) {
    slot = (slot + 1) & (merges_.size() - 1);
  }
  merges_[slot] = {key, rank, merge.result};
}

const Bpe::MergeSlot* Bpe::find_merge(int32_t left, int32_t right) const {
  const uint64_t key = pair_key(left, right);
  size_t slot = (key * kGolden) >> merge_shift_;
  while (merges_[slot].pair != key) {
    if (merges_[slot].pair == kEmptyPair) {
      return nullptr;
    }
    slot = (slot + 1) & (merges_.size() - 1);
  }
  return &merges_[slot];
}

int32_t Bpe::find_index(std::string_view bytes) const {
  if (bytes.size() > longest_bytes_) {
    return kNone;
  }
  size_t slot = hash_bytes(bytes) & (slots_.size() - 1);
  while (slots_[slot] != kNone) {
    if (tokens_[static_cast<size_t>(slots_[slot])].bytes == bytes) {
      return slots_[slot];
    }
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return kNone;
}

int32_t Bpe::find(std::string_view bytes) const {
  const int32_t index = find_index(bytes);
  return index == kNone ? kNone : tokens_[static_cast<size_t>(index)].id;
}

void Bpe::merge_piece(std::string_view piece, std::vector<int32_t>& out) const {
  if (piece.size() == 1) {
    out.push_back(byte_ids_[static_cast<unsigned char>(piece[0])]);
    return;
  }
  const int32_t index = find_index(piece);
  if (index == kNone) {
    return run_merges(piece, out);
  }
  const auto i = static_cast<size_t>(index);
  const uint8_t known = whole_[i].load(std::memory_order_relaxed);
  if (known == kWhole) {
    out.push_back(tokens_[i].id);
    return;
  }
  const size_t before = out.size();
  run_merges(piece, out);
  if (known == kUnknown) {
    // Threads that race here store the same answer.
    const bool whole = out.size() == before + 1 && out.back() == tokens_[i].id;
    whole_[i].store(whole ? kWhole : kNotWhole, std::memory_order_relaxed);
  }
}

void Bpe::run_merges(std::string_view piece, std::vector<int32_t>& out) const {
  if (piece.size() <= kShortPieceBytes) {
    merge_short(piece, out);
  } else {
    merge_long(piece, out);
  }
}

void Bpe::merge_short(std::string_view piece, std::vector<int32_t>& out) const {
  int32_t ids[kShortPieceBytes];
  int32_t ranks[kShortPieceBytes];    // of the pair (i, i + 1)
  int32_t results[kShortPieceBytes];  // of the pair (i, i + 1)
  size_t n = piece.size();
  for (size_t i = 0; i < n; ++i) {
    ids[i] = byte_ids_[static_cast<unsigned char>(piece[i])];
  }
  const auto look_up = [&](size_t i) {
    const MergeSlot* merge = find_merge(ids[i], ids[i + 1]);
    ranks[i] = merge == nullptr ? kNoRank : merge->rank;
    results[i] = merge == nullptr ? kNone : merge->result;
  };
  for (size_t i = 0; i + 1 < n; ++i) {
    look_up(i);
  }
  while (n > 1) {
    const auto best = static_cast<size_t>(std::min_element(ranks, ranks + n - 1) - ranks);
    if (ranks[best] == kNoRank) {
      break;
    }
    ids[best] = results[best];
    std::copy(ids + best + 2, ids + n, ids + best + 1);
    std::copy(ranks + best + 1, ranks + n - 1, ranks + best);
    std::copy(results + best + 1, results + n - 1, results + best);
    --n;
    if (best + 1 < n) {
      look_up(best);
    }
    if (best > 0) {
      look_up(best - 1);
    }
  }
  out.insert(out.end(), ids, ids + n);
}

void Bpe::merge_long(std::string_view piece, std::vector<int32_t>& out) const {
  struct Symbol {
    int32_t id;  // kNone once it has been merged into its left neighbour
    size_t previous, next;
  };
  struct Candidate {
    int32_t rank;
    size_t left;
    uint64_t pair;
    int32_t result;
  };
  constexpr size_t kEnd = SIZE_MAX;
  const auto later = [](const Candidate& a, const Candidate& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
  };

  std::vector<Symbol> symbols(piece.size());
  for (size_t i = 0; i < piece.size(); ++i) {
    symbols[i] = {byte_ids_[static_cast<unsigned char>(piece[i])], i == 0 ? kEnd : i - 1,
                  i + 1 == piece.size() ? kEnd : i + 1};
  }
  std::vector<Candidate> storage;
  const auto find_candidate = [&](size_t left, auto&& take) {
    const size_t right = symbols[left].next;
    if (right == kEnd) {
      return;
    }
    const MergeSlot* merge = find_merge(symbols[left].id, symbols[right].id);
    if (merge != nullptr) {
      take(Candidate{merge->rank, left, merge->pair, merge->result});
    }
  };
  for (size_t i = 0; i < symbols.size(); ++i) {
    find_candidate(i, [&](const Candidate& c) { storage.push_back(c); });
  }
  std::priority_queue<Candidate, std::vector<Candidate>, decltype(later)> queue(later, std::move(storage));
  const auto push = [&](const Candidate& c) { queue.push(c); };
  while (!queue.empty()) {
    const Candidate top = queue.top();
    queue.pop();
    Symbol& left = symbols[top.left];
    if (left.id == kNone || left.next == kEnd) {
      continue;
    }
    Symbol& right = symbols[left.next];
    if (pair_key(left.id, right.id) != top.pair) {
      continue;
    }
    left.id = top.result;
    right.id = kNone;
    left.next = right.next;
    if (right.next != kEnd) {
      symbols[right.next].previous = top.left;
    }
    find_candidate(top.left, push);
    if (left.previous != kEnd) {
      find_candidate(left.previous, push);
    }
  }
  for (size_t i = 0; i != kEnd; i = symbols[i].next) {
    out.push_back(symbols[i].id);
  }
}

}  // namespace orfebre::text
