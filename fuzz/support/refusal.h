// What a reader may do with bad input: refuse it with an Error that blames the input and is fit to print.
// Any other exception ends the run, as does an Error of a kind that blames this program.
#pragma once

#include "base/error.h"

#include <initializer_list>

namespace orfebre::fuzz {

// Ends the run unless `error` is of one of `kinds` and its text is well-formed UTF-8 without control
// characters. Escapes in an error would reach the terminal that shows it.
void check_refusal(const Error& error, std::initializer_list<ErrorKind> kinds);

// Likewise, and the text is ASCII: this program's own words alone, nothing quoted.
void check_quotes_nothing(const Error& error, std::initializer_list<ErrorKind> kinds);

}  // namespace orfebre::fuzz
