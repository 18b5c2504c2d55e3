// How much memory this process may take, and how to print amounts of it.
#pragma once

#include <cstdint>
#include <string>

namespace orfebre::cli {

// Bytes that are free for a new program now: the smaller of what the kernel calls available and what the
// control group leaves, less a margin so that the machine keeps breathing.
uint64_t usable_memory_bytes();

// "21.3 GB", "14.2 MB".
std::string format_bytes(uint64_t bytes);

}  // namespace orfebre::cli
