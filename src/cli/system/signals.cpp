#include "cli/system/signals.h"

#include "base/error.h"

#include <poll.h>
#include <unistd.h>
#include <csignal>

namespace orfebre::cli {
namespace {

std::atomic<bool> g_stop{false};
std::atomic<bool> g_leave{false};
int g_wake_pipe[2] = {-1, -1};

static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");

void on_signal(int number) {
  g_stop.store(true);
  if (number == SIGTERM) {
    g_leave.store(true);
  }
  const char byte = 0;
  [[maybe_unused]] const ssize_t written = write(g_wake_pipe[1], &byte, 1);
}

void install_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

void catch_stop_signals() {
  if (g_wake_pipe[0] < 0 && pipe(g_wake_pipe) != 0) {
    fail(ErrorKind::kInternal, "no file descriptor is left for the signal pipe");
  }
  install_handlers();
}

const std::atomic<bool>& stop_requested() {
  return g_stop;
}

const std::atomic<bool>& leave_requested() {
  return g_leave;
}

void ignore_broken_pipes() {
  std::signal(SIGPIPE, SIG_IGN);
}

void clear_stop() {
  g_stop.store(false);
  install_handlers();
}

void wait_for_stop() {
  while (!g_stop.load()) {
    pollfd descriptor{g_wake_pipe[0], POLLIN, 0};
    poll(&descriptor, 1, -1);
  }
}

}  // namespace orfebre::cli
