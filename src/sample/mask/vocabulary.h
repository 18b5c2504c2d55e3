// The bytes of all tokens, arranged for masks: a trie that is walked together with an automaton, and sets of
// tokens that need no walk because the automaton is known to take any of them. Built once a model; immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace orfebre::mask {

// A set of token ids: bit id % 32 of word id / 32.
using TokenSet = std::vector<uint32_t>;

// Preorder: a node's children follow it; `end` is the first node behind its subtree.
struct TrieNode {
  uint32_t end;
  int32_t token;   // that ends here, or -1
  uint16_t depth;  // bytes from the root, 1 and more
  uint8_t byte;
};

using Trie = std::vector<TrieNode>;

class Vocabulary {
 public:
  // `token_bytes[id]`; empty for ids that masks never allow by their bytes: control tokens, padding.
  explicit Vocabulary(std::span<const std::string_view> token_bytes);

  // 32-bit words of a mask over these ids.
  size_t mask_words() const { return words_; }
  // One more than any token's bytes: no token can count further, or close more.
  int32_t reach() const { return reach_; }

  // Tokens of at most so many plain characters (automaton/program.h) and nothing else; any number from
  // reach().
  const TokenSet& plain(int32_t n_characters) const;
  // Tokens that a JSON string takes anywhere in it, and that do not end it; all plain ones among them.
  const TokenSet& in_json_string() const { return in_json_string_; }
  // Tokens that begin with a character and have no '<'; the last character may be cut.
  const TokenSet& text() const { return text_; }

  const Trie& all() const { return all_; }
  const Trie& not_plain() const { return not_plain_; }
  const Trie& not_in_json_string() const { return not_in_json_string_; }
  const Trie& not_text() const { return not_text_; }

 private:
  size_t words_;
  int32_t reach_ = 1;
  std::vector<TokenSet> plain_;  // [distinct lengths]
  std::vector<size_t> plain_of_length_;
  TokenSet in_json_string_, text_;
  Trie all_, not_plain_, not_in_json_string_, not_text_;
};

}  // namespace orfebre::mask
