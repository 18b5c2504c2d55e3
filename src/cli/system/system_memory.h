// How much memory this process may take, and how to print amounts of it.
#pragma once

#include <cstdint>
#include <string>

namespace orfebre::cli {

// Bytes that are free for a new program now: the smallest of what the kernel calls available and what each
// control group around this process leaves (versions 2 and 1), less a margin so that the machine keeps
// breathing. Files are read below `root`: tests put other machines there.
uint64_t usable_memory_bytes(const std::string& root = "");

// The same of a machine with `memory_bytes` built in that runs little else: for tables.
uint64_t usable_of_machine(uint64_t memory_bytes);

// "21.3 GB", "14.2 MB".
std::string format_bytes(uint64_t bytes);

}  // namespace orfebre::cli
