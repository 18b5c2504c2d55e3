// Where the messages of a rendered prompt end.
#pragma once

#include "text/tokenizer.h"

#include <span>
#include <vector>

namespace orfebre::text {

// Ascending positions in a prompt's ids at which another prompt of the same conversation may part from it:
// before each message but the first, and behind the header that opens the reply, where a later turn shows the
// reply without its thinking. Exact, because no message can contain a control token. Empty for a plain text
// prompt.
std::vector<int> message_ends(const Tokenizer& tokenizer, std::span<const TokenId> ids);

}  // namespace orfebre::text
