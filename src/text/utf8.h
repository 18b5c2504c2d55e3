// UTF-8 on the byte level: well-formedness, replacement of ill-formed parts, Python's white space.
// Does not know normalisation or categories.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace orfebre::text {

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct Utf8Unit {
  enum class Kind {
    kCharacter,   // one well-formed character
    kIllFormed,   // a maximal ill-formed part: one U+FFFD stands for it
    kIncomplete,  // the text ends inside what may still become a character
  };
  Kind kind;
  size_t size_bytes;
};

// The unit at the start of `text`, which must not be empty (Unicode 15.0, table 3-7 and D93b).
Utf8Unit next_utf8_unit(std::string_view text);

bool is_well_formed(std::string_view text);

// Python's bytes.decode("utf-8", "replace"): every maximal ill-formed part becomes U+FFFD.
std::string replace_ill_formed(std::string_view text);

// Code points of well-formed UTF-8.
int64_t count_characters(std::string_view text);

// Python's str.strip(): without Unicode white space on both sides. `text` is well-formed UTF-8.
std::string_view python_strip(std::string_view text);

}  // namespace orfebre::text
