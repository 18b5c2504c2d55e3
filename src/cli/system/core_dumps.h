// Keeps conversations out of core files.
#pragma once

namespace orfebre::cli {

// From here on a crash writes no core file of this process, whatever the system's settings: what was said is
// in its memory. On Linux other processes of the same user cannot attach to it or read its memory either.
void forbid_core_dumps();

}  // namespace orfebre::cli
