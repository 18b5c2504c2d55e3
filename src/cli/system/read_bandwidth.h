// How fast this machine's cores read memory: the yardstick of a memory-bound decode.
#pragma once

namespace orfebre::cli {

// Bytes a second that `n_threads` threads read together from a buffer far larger than the caches: the best
// of several passes, fewer once a signal asks to stop. Takes about half a second and, for that time, up to 1
// GiB.
double measure_read_bandwidth(int n_threads);

}  // namespace orfebre::cli
