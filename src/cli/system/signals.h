// Ctrl-C and SIGTERM as a flag and a file descriptor, for the commands that stop in good order.
#pragma once

#include <atomic>

namespace orfebre::cli {

// Catches SIGINT and SIGTERM from now on. A second signal of the same kind before `clear_stop` ends the
// program at once, in case stopping hangs.
void catch_stop_signals();

// Set by a signal; loaders and loops read it.
const std::atomic<bool>& stop_requested();

// Set by SIGTERM only, for good: an interactive command ends too.
const std::atomic<bool>& leave_requested();

// For a server, whose clients and whose log's reader may leave. Elsewhere a reader that leaves ends the
// program, as `| head` expects.
void ignore_broken_pipes();

// Forgets the signal and catches the next one again: an interactive command goes on.
void clear_stop();

// Blocks until a signal came.
void wait_for_stop();

}  // namespace orfebre::cli
