// The program's only log: one line an event on stderr, with a level and the seconds since start.
// Never takes prompt or reply text. Thread-safe; a line is written whole.
#pragma once

#include <fmt/core.h>

#include <string_view>
#include <utility>

namespace orfebre {

enum class LogLevel { kTrace, kInfo, kWarning, kError, kQuiet };

// Lines below `level` are dropped. The default is kInfo.
void set_log_level(LogLevel level);
bool log_enabled(LogLevel level);
void log_line(LogLevel level, std::string_view text);

template <typename... Args>
void log_trace(fmt::format_string<Args...> text, Args&&... args) {
  if (log_enabled(LogLevel::kTrace)) {
    log_line(LogLevel::kTrace, fmt::format(text, std::forward<Args>(args)...));
  }
}

template <typename... Args>
void log_info(fmt::format_string<Args...> text, Args&&... args) {
  if (log_enabled(LogLevel::kInfo)) {
    log_line(LogLevel::kInfo, fmt::format(text, std::forward<Args>(args)...));
  }
}

template <typename... Args>
void log_warning(fmt::format_string<Args...> text, Args&&... args) {
  if (log_enabled(LogLevel::kWarning)) {
    log_line(LogLevel::kWarning, fmt::format(text, std::forward<Args>(args)...));
  }
}

template <typename... Args>
void log_error(fmt::format_string<Args...> text, Args&&... args) {
  if (log_enabled(LogLevel::kError)) {
    log_line(LogLevel::kError, fmt::format(text, std::forward<Args>(args)...));
  }
}

}  // namespace orfebre
