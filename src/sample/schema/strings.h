// Strings within a schema's bounds: length, patterns, formats.
#pragma once

#include "sample/automaton/char_dfa.h"
#include "sample/schema/assertions.h"

#include <cstdint>

namespace orfebre::schema {

// The texts, and how many characters they may have where the automaton leaves that to a counter (it then
// takes any text).
struct StringLanguage {
  automaton::CharDfa texts;
  bool is_counted = false;
  int32_t least = 0;
  int32_t most = -1;  // no limit

  bool is_any() const { return is_any_text && !is_counted; }
  bool is_any_text = false;
  bool is_empty() const { return texts.empty() || (is_counted && most >= 0 && most < least); }
};

// Throws SchemaError at a pattern or format that cannot be honoured.
StringLanguage string_language(const Assertions& assertions, const Document& document,
                               const ReadContext& context);

// Whether `text` satisfies the assertions about strings.
bool satisfies(const StringLanguage& language, std::string_view text);

}  // namespace orfebre::schema
