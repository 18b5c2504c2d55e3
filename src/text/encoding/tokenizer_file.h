// Reads tokenizer.json into plain data, checking everything that the encoder relies on.
#pragma once

#include "text/encoding/bpe.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orfebre::text {

struct AddedToken {
  int32_t id;
  std::string text;
  bool special;     // hidden from replies
  bool normalized;  // matched after NFC instead of on the raw text
};

struct TokenizerFile {
  std::vector<Bpe::Token> tokens;  // base vocabulary, without the added tokens
  std::vector<Bpe::Merge> merges;
  std::vector<AddedToken> added;
  int32_t n_ids = 0;  // one past the highest id
};

// Throws Error (kBadCheckpoint) with the place in the file, what was expected and what was found: damaged
// JSON, another model type, normaliser, split expression or decoder, a missing byte, ids or texts given
// twice, merges of unknown tokens, an added token that merges could produce.
TokenizerFile parse_tokenizer_file(std::string_view json, std::string_view where);

}  // namespace orfebre::text
