#include "text/encoding/normalizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "text/encoding/newer_marks.h"

namespace orfebre::text {
namespace {

// The longest canonical decomposition of one character has 4 code points.
constexpr std::size_t kMaxDecomposition = 16;

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
  out.append(reinterpret_cast<const char*>(encoded), static_cast<std::size_t>(n_bytes));
}

// Orders and composes `code_points`, appends them to `out` and leaves them empty.
void append_composed(std::vector<utf8proc_int32_t>& code_points, std::string& out) {
  order_marks(code_points);
  const auto n_composed = utf8proc_normalize_utf32(
      code_points.data(), static_cast<utf8proc_ssize_t>(code_points.size()), kOptions);
  ORFEBRE_CHECK(n_composed >= 0);
  for (utf8proc_ssize_t i = 0; i < n_composed; ++i)
    append_utf8(code_points[static_cast<std::size_t>(i)], out);
  code_points.clear();
}

}  // namespace

bool is_surely_nfc(std::string_view text) {
  const auto byte = [text](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int lead = byte(i);
    // Below U+0300; continuation bytes; U+0400..047F; U+4000..9FFF; U+B000..D7FF: nothing composes here.
    const bool stable = lead < 0xCC || lead == 0xD0 || lead == 0xD1 || (lead >= 0xE4 && lead <= 0xE9) ||
                        (lead >= 0xEB && lead <= 0xED);
    if (stable) continue;
    const bool general_punctuation = lead == 0xE2 && byte(i + 1) == 0x80 && byte(i + 2) > 0x81;
    const bool emoji = lead == 0xF0 && byte(i + 1) == 0x9F;
    if (!general_punctuation && !emoji) return false;
  }
  return true;
}

std::string to_nfc(std::string_view text) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  std::string out;
  out.reserve(text.size());
  std::vector<utf8proc_int32_t> pending;  // decomposed, since the last newer mark
  std::size_t pos = 0;
  while (pos < text.size()) {
    utf8proc_int32_t c = 0;
    const auto n_bytes = utf8proc_iterate(bytes + pos, static_cast<utf8proc_ssize_t>(text.size() - pos), &c);
    ORFEBRE_CHECK(n_bytes > 0);
    pos += static_cast<std::size_t>(n_bytes);
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
  return out;
}

}  // namespace orfebre::text
