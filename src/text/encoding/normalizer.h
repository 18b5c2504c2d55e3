// Unicode normalisation form C in time linear in the text (n log n within a run of combining marks).
#pragma once

#include <string>
#include <string_view>

namespace orfebre::text {

// A cheap test: true means that `text` is in NFC; false means that it may not be.
bool is_surely_nfc(std::string_view text);

// NFC of well-formed UTF-8, with the tables of Unicode 9 whatever the system has: as Hugging Face
// `tokenizers`.
std::string to_nfc(std::string_view text);

}  // namespace orfebre::text
