// Names and values from files that nobody vouches for, made fit to stand in an error that a terminal shows.
#pragma once

#include <string>
#include <string_view>

namespace orfebre {

// `text` (UTF-8) with control characters, C1 among them, replaced by "?": an escape sequence in a tensor's
// name must not reach a terminal. Cut after at most 120 bytes, between characters, with "..." behind.
std::string printable(std::string_view text);

}  // namespace orfebre
