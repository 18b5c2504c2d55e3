// Byte-level BPE: the vocabulary's bytes, the merge table, and the merging of one piece.
// Does not know added tokens, normalisation or splitting.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace orfebre::text {

// Filled by the loader, then const; merge_piece may be called from any number of threads.
class Bpe {
 public:
  static constexpr int32_t kNone = -1;

  struct Token {
    int32_t id;
    std::string bytes;
  };
  struct Merge {
    int32_t left, right, result;  // rank: the index in the list
  };

  // Ids and bytes are unique, ids in [0, n_ids); every single byte has a token; the merges' ids exist.
  // A pair listed twice has its last rank, as in Hugging Face `tokenizers`.
  Bpe(std::vector<Token> tokens, int32_t n_ids, const std::vector<Merge>& merges);

  // The ids of one piece, appended. Always the result of the merges: lowest rank first, then leftmost.
  // O(n log n) in the piece's bytes.
  void merge_piece(std::string_view piece, std::vector<int32_t>& out) const;

  // The token with exactly these bytes, or kNone.
  int32_t find(std::string_view bytes) const;

 private:
  struct MergeSlot {
    uint64_t pair = kEmptyPair;
    int32_t rank = 0;
    int32_t result = 0;
  };
  static constexpr uint64_t kEmptyPair = ~uint64_t{0};
  // Whether the merges turn a token's own bytes into that token; found out when first needed.
  enum Whole : uint8_t { kUnknown, kWhole, kNotWhole };

  const MergeSlot* find_merge(int32_t left, int32_t right) const;
  void insert_merge(const Merge& merge, int32_t rank);
  void run_merges(std::string_view piece, std::vector<int32_t>& out) const;
  void merge_short(std::string_view piece, std::vector<int32_t>& out) const;
  void merge_long(std::string_view piece, std::vector<int32_t>& out) const;

  std::vector<MergeSlot> merges_;  // open addressing, a power of two of slots
  int merge_shift_ = 0;
  std::vector<int32_t> slots_;  // open addressing over token bytes: an index into tokens_, or kNone
  std::vector<Token> tokens_;
  size_t longest_bytes_ = 0;
  std::array<int32_t, 256> byte_ids_{};
  std::unique_ptr<std::atomic<uint8_t>[]> whole_;  // [tokens_] Whole
  int32_t find_index(std::string_view bytes) const;
};

}  // namespace orfebre::text
