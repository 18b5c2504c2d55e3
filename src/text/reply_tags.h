// Recognises the markup of the model's replies at the start of a text that may still grow.
// Every answer depends on the text alone, never on how it arrived: "maybe" until more text decides.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace orfebre::text {

enum class Seen { kNo, kMaybe, kYes };

// What follows at the start of a text, and how many bytes of it are meant.
struct TagMatch {
  // NOLINTNEXTLINE: implicit, so that an answer without a tag reads as just that
  TagMatch(Seen s = Seen::kNo, size_t size = 0, std::string n = {})
      : seen(s), size_bytes(size), name(std::move(n)) {}
  Seen seen;
  size_t size_bytes;  // of kYes
  std::string name;   // of an opening tag with a name
};

// The reader's view of the text: `ended` says that no more will come, so "maybe" cannot be answered.
struct Lookahead {
  std::string_view text;
  bool ended;

  Lookahead after(size_t n_bytes) const { return {text.substr(n_bytes), ended}; }
  bool at_end() const { return ended && text.empty(); }
  // Spaces, tabs and line breaks.
  Lookahead after_space() const;
};

Seen match_literal(const Lookahead& in, std::string_view literal);

// "<function=NAME>" or "<parameter=KEY>", also without the closing '>' before a line break or a further tag;
// "<parameter>" has an empty name. `word` is "<function" or "<parameter".
TagMatch match_opening(const Lookahead& in, std::string_view word);

// Whether a parameter's value ends here: at a </parameter> with a further tag or the end behind it, or, if
// that is missing, at a </function> or </tool_call> that ends the text or precedes another call.
// A value may be XML with parameters of its own: a nameless <parameter> behind counts only at a line's start.
// size_bytes covers </parameter> only; the other tags are left to the reader.
TagMatch match_value_end(const Lookahead& in, bool at_line_start);

// Whether the text ended inside a tag: "</func", "<tool_ca", "<function=na".
bool is_cut_tag(const Lookahead& in);

}  // namespace orfebre::text
