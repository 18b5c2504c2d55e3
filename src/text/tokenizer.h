// Text to token ids and back, as Hugging Face `tokenizers` does it for this model's tokenizer.json:
// NFC, the model's split expression, byte-level BPE, added tokens found in the raw text.
// Owns the vocabulary. Does not know roles or templates (chat_template.h) nor streaming (detokenizer.h).
#pragma once

#include "text/segment.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orfebre::text {

using TokenId = int32_t;

// Immutable after construction; every member may be called from any number of threads at once.
//
// Differences from a naive encoder, on purpose:
// - Bytes that are not UTF-8 are replaced by U+FFFD, one for each maximal ill-formed part, before anything
//   else (Python's bytes.decode("utf-8", "replace")); encoding never fails.
// - A vocabulary entry that merges cannot build is never emitted, although the word is in the vocabulary.
class Tokenizer {
 public:
  // Reads a tokenizer.json. Throws Error: kNotFound (no such file), kBadCheckpoint (damaged, or a setting
  // that this engine does not implement: another split expression, normaliser, model type, ...).
  static Tokenizer from_file(const std::filesystem::path& path);
  // `where` names the source in errors.
  static Tokenizer from_json(std::string_view json, std::string_view where);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  // Control tokens enabled: "<|im_start|>" in `text` becomes its id. For text written by this program.
  std::vector<TokenId> encode(std::string_view text) const;
  // Control tokens disabled: no added token is ever produced. For text written by anybody else.
  std::vector<TokenId> encode_plain(std::string_view text) const;
  // Control tokens enabled inside control segments only. Splitting and merging run over the joined bytes,
  // so a prompt without look-alikes has exactly the ids of encode(all segments joined).
  std::vector<TokenId> encode(std::span<const Segment> segments) const;

  // Bytes of the ids, ill-formed UTF-8 replaced by U+FFFD; ids without a token add nothing.
  // `skip_special` drops the tokens marked special (<|im_end|>, ...) but keeps <think>, <tool_call>, ...
  std::string decode(std::span<const TokenId> ids, bool skip_special = true) const;

  // The token's bytes (possibly part of a character); empty for an id without a token, such as the padding
  // rows between vocab_size() and the model's logits. The view lives as long as the tokenizer.
  std::string_view token_bytes(TokenId id) const;
  bool is_special(TokenId id) const;  // marked special: hidden from replies
  bool is_added(TokenId id) const;    // an added token, special or not: a control token
  // The id of an added token's text or of a vocabulary entry's bytes.
  std::optional<TokenId> id_of(std::string_view token) const;
  // One past the highest id that has a token.
  TokenId vocab_size() const;

 private:
  struct Impl;
  explicit Tokenizer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace orfebre::text
