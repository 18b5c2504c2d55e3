#include "support/refusal.h"

#include "text/utf8.h"

#include <algorithm>
#include <string_view>

namespace orfebre::fuzz {

void check_refusal(const Error& error, std::initializer_list<ErrorKind> kinds) {
  const std::string_view text = error.what();
  const bool blames_the_input = std::find(kinds.begin(), kinds.end(), error.kind()) != kinds.end();
  const bool has_control_characters = std::any_of(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  ORFEBRE_CHECK(blames_the_input);
  ORFEBRE_CHECK(!text.empty());
  ORFEBRE_CHECK(text::is_well_formed(text));
  ORFEBRE_CHECK(!has_control_characters);
}

void check_quotes_nothing(const Error& error, std::initializer_list<ErrorKind> kinds) {
  check_refusal(error, kinds);
  const std::string_view text = error.what();
  ORFEBRE_CHECK(std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; }));
}

}  // namespace orfebre::fuzz
