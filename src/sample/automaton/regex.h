// Regular expressions as JSON Schema's "pattern" has them (ECMA-262), the part that is regular: alternatives,
// groups, classes, quantifiers, ^ and $. Look-around, back references, \b and \p are refused.
#pragma once

#include "sample/automaton/char_dfa.h"

#include <string_view>

namespace orfebre::automaton {

// The texts in which `pattern` (UTF-8) is found somewhere: "^" and "$" tie it to the ends. \d, \w and their
// complements are ASCII's; . is any character but line breaks. Throws Error: kInvalidRequest for an
// expression that is wrong, kUnsupported for one that is not regular or too large; the text names the fault,
// not the expression.
CharDfa regex_dfa(std::string_view pattern);

}  // namespace orfebre::automaton
