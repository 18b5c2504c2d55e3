#include "cli/system/progress.h"

#include <fmt/core.h>

#include <unistd.h>
#include <algorithm>
#include <cstdio>

namespace orfebre::cli {
namespace {

constexpr int kBarCells = 30;
constexpr std::chrono::milliseconds kRedrawInterval{100};

}  // namespace

bool stdout_is_terminal() {
  return isatty(STDOUT_FILENO) == 1;
}

bool stderr_is_terminal() {
  return isatty(STDERR_FILENO) == 1;
}

ProgressBar::ProgressBar(std::string label) : label_(std::move(label)), on_terminal_(stderr_is_terminal()) {}

ProgressBar::~ProgressBar() {
  if (drawn_) {
    fmt::print(stderr, "\r\x1b[K");
    std::fflush(stderr);
  }
}

void ProgressBar::update(uint64_t done_bytes, uint64_t total_bytes) {
  const auto now = std::chrono::steady_clock::now();
  if (!on_terminal_ || now - last_draw_ < kRedrawInterval) {
    return;
  }
  last_draw_ = now;
  drawn_ = true;
  const double share =
      total_bytes == 0 ? 1.0 : static_cast<double>(done_bytes) / static_cast<double>(total_bytes);
  const int filled = static_cast<int>(std::clamp(share, 0.0, 1.0) * kBarCells);
  fmt::print(stderr, "\r{} [{:#<{}}{:.<{}}] {:3.0f} %  {:.2f} of {:.2f} GB\x1b[K", label_, "", filled, "",
             kBarCells - filled, 100 * share, static_cast<double>(done_bytes) * 1e-9,
             static_cast<double>(total_bytes) * 1e-9);
  std::fflush(stderr);
}

}  // namespace orfebre::cli
