// The three descriptors that every program takes for granted.
#pragma once

namespace orfebre::cli {

// Opens /dev/null for those of descriptors 0 to 2 that the program was started without. Otherwise a pipe, a
// file or a client's socket would get their numbers, and what is meant for the terminal would be written
// there.
void open_standard_streams();

}  // namespace orfebre::cli
