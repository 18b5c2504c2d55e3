#include "text/detokenizer.h"

#include "text/utf8.h"

#include <utility>

namespace orfebre::text {

std::string Detokenizer::push(TokenId id) {
  if (skip_special_ && tokenizer_->is_special(id)) {
    return {};
  }
  return push_bytes(tokenizer_->token_bytes(id));
}

std::string Detokenizer::push_bytes(std::string_view bytes) {
  std::string text = std::exchange(tail_, {});
  text += bytes;
  std::string out;
  size_t pos = 0;
  while (pos < text.size()) {
    const std::string_view rest = std::string_view(text).substr(pos);
    const Utf8Unit unit = next_utf8_unit(rest);
    if (unit.kind == Utf8Unit::Kind::kIncomplete) {
      tail_ = rest;
      break;
    }
    out += unit.kind == Utf8Unit::Kind::kCharacter ? rest.substr(0, unit.size_bytes) : kReplacement;
    pos += unit.size_bytes;
  }
  return out;
}

std::string Detokenizer::flush() {
  return std::exchange(tail_, {}).empty() ? "" : std::string(kReplacement);
}

}  // namespace orfebre::text
