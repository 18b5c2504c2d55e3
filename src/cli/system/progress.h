// A progress bar on standard error, drawn only when that is a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace orfebre::cli {

class ProgressBar {
 public:
  // `label` stands before the bar.
  explicit ProgressBar(std::string label);
  // Removes the bar.
  ~ProgressBar();

  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Redraws at most ten times a second. One thread at a time.
  void update(uint64_t done_bytes, uint64_t total_bytes);

 private:
  std::string label_;
  bool on_terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_draw_{};
};

bool stdout_is_terminal();
bool stderr_is_terminal();

}  // namespace orfebre::cli
