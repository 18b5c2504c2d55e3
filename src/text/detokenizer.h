// Streaming detokenizer: token ids in, whole UTF-8 characters out.
// Owns the incomplete tail of a character. Stop strings and markup are others' (stop_matcher.h,
// reply_parser.h).
#pragma once

#include "text/tokenizer.h"

#include <string>
#include <string_view>

namespace orfebre::text {

// One per reply. For any ids: the pushes and the flush joined equal Tokenizer::decode of the ids.
class Detokenizer {
 public:
  // `tokenizer` must outlive this object.
  explicit Detokenizer(const Tokenizer& tokenizer, bool skip_special = true)
      : tokenizer_(&tokenizer), skip_special_(skip_special) {}

  // The characters completed by this token, possibly none. Bytes that cannot begin or continue a character
  // become U+FFFD at once; the beginning of a character waits.
  std::string push(TokenId id);
  std::string push_bytes(std::string_view bytes);
  // The end of the reply: an incomplete tail becomes one U+FFFD.
  std::string flush();

 private:
  const Tokenizer* tokenizer_;
  bool skip_special_;
  std::string tail_;  // at most 3 bytes: a proper prefix of a character
};

}  // namespace orfebre::text
