#include "text/encoding/normalizer.h"

#include "base/error.h"
#include "text/encoding/newer_marks.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace orfebre::text {
namespace {

// The longest canonical decomposition of one character has 4 code points.
constexpr size_t kMaxDecomposition = 16;

constexpr auto kOptions = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);

utf8proc_propval_t combining_class(utf8proc_int32_t c) {
  return utf8proc_get_property(c)->combining_class;
}

// Canonical ordering: within a run of combining marks, by class, stable. utf8proc's own ordering is an
// insertion sort, quadratic on hostile text.
void order_marks(std::vector<utf8proc_int32_t>& code_points) {
  auto run = code_points.begin();
  while (run != code_points.end()) {
    if (combining_class(*run) == 0) {
      ++run;
      continue;
    }
    const auto end = std::find_if(run, code_points.end(), [](auto c) { return combining_class(c) == 0; });
    std::stable_sort(run, end, [](auto a, auto b) { return combining_class(a) < combining_class(b); });
    run = end;
  }
}

void append_utf8(utf8proc_int32_t c, std::string& out) {
  utf8proc_uint8_t encoded[4];
  const auto n_bytes = utf8proc_encode_char(c, encoded);
  out.append(reinterpret_cast<const char*>(encoded), static_cast<size_t>(n_bytes));
}

// Orders and composes `code_points`, appends them to `out` and leaves them empty.
void append_composed(std::vector<utf8proc_int32_t>& code_points, std::string& out) {
  order_marks(code_points);
  const auto n_composed = utf8proc_normalize_utf32(
      code_points.data(), static_cast<utf8proc_ssize_t>(code_points.size()), kOptions);
  ORFEBRE_CHECK(n_composed >= 0);
  for (utf8proc_ssize_t i = 0; i < n_composed; ++i) {
    append_utf8(code_points[static_cast<size_t>(i)], out);
  }
  code_points.clear();
}

// NFC of a region that no composition crosses.
void append_nfc(std::string_view text, std::string& out) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  std::vector<utf8proc_int32_t> pending;  // decomposed, since the last newer mark
  size_t pos = 0;
  while (pos < text.size()) {
    utf8proc_int32_t c = 0;
    const auto n_bytes = utf8proc_iterate(bytes + pos, static_cast<utf8proc_ssize_t>(text.size() - pos), &c);
    ORFEBRE_CHECK(n_bytes > 0);
    pos += static_cast<size_t>(n_bytes);
    if (is_newer_mark(c)) {
      append_composed(pending, out);
      append_utf8(c, out);
      continue;
    }
    utf8proc_int32_t parts[kMaxDecomposition];
    const auto n_parts = utf8proc_decompose_char(c, parts, kMaxDecomposition, kOptions, nullptr);
    ORFEBRE_CHECK(n_parts > 0 && n_parts <= static_cast<utf8proc_ssize_t>(kMaxDecomposition));
    pending.insert(pending.end(), parts, parts + n_parts);
  }
  append_composed(pending, out);
}

int byte_at(std::string_view text, size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

// Whether the character whose lead byte is at `i` is common, its own NFC, no combining mark, and never the
// second part of a composition. False says nothing.
bool is_surely_stable(std::string_view text, size_t i) {
  const int lead = byte_at(text, i), second = byte_at(text, i + 1), third = byte_at(text, i + 2);
  switch (lead) {
    case 0xE1:  // U+1E00..1EFF: Vietnamese
      return second >= 0xB8 && second <= 0xBB;
    // Punctuation, arrows, mathematics, boxes, without U+2000, U+2001, the Ohm, Kelvin and Angstrom signs.
    case 0xE2:
      return (second == 0x80 && third > 0x81) || second == 0x81 || second == 0x82 ||
             (second >= 0x85 && second <= 0x8B) || (second >= 0x8D && second <= 0xAA);
    case 0xE3:  // kana and CJK punctuation, without their marks
      return (second == 0x80 && third < 0xAA) || second == 0x81 ||
             (second == 0x82 && third != 0x99 && third != 0x9A) || second == 0x83;
    case 0xEF:  // full width forms
      return second >= 0xBC;
    case 0xF0:  // emoji
      return second == 0x9F;
    default:
      // Below U+0300 and continuation bytes; U+03C0..047F; U+04C0..057F; U+4000..9FFF; U+B000..D7FF.
      return lead < 0xCC || lead == 0xCF || lead == 0xD0 || lead == 0xD1 || (lead >= 0xD3 && lead <= 0xD5) ||
             (lead >= 0xE4 && lead <= 0xE9) || (lead >= 0xEB && lead <= 0xED);
  }
}

// The first character from `pos` on that may not be stable, or the text's size.
size_t find_unsure(std::string_view text, size_t pos) {
  while (pos < text.size() && is_surely_stable(text, pos)) {
    ++pos;
  }
  return pos;
}

bool is_ascii(std::string_view text, size_t i) {
  return byte_at(text, i) < 0x80;
}

}  // namespace

bool is_surely_nfc(std::string_view text) {
  return find_unsure(text, 0) == text.size();
}

std::string to_nfc(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  size_t pos = 0;
  for (;;) {
    // No composition crosses into an ASCII character, so a region from one to before the next stands alone.
    const size_t unsure = find_unsure(text, pos);
    size_t begin = unsure, end = unsure;
    if (unsure < text.size()) {
      while (begin > pos && !is_ascii(text, begin - 1)) {
        --begin;
      }
      if (begin > pos) {
        --begin;
      }
      while (end < text.size() && !is_ascii(text, end)) {
        ++end;
      }
    }
    out.append(text, pos, begin - pos);
    if (begin == text.size()) {
      return out;
    }
    append_nfc(text.substr(begin, end - begin), out);
    pos = end;
  }
}

}  // namespace orfebre::text
