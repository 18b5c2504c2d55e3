#include "base/log.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>

namespace orfebre {
namespace {

std::atomic<LogLevel> g_level{LogLevel::kInfo};
const auto g_start = std::chrono::steady_clock::now();

const char* level_name(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace: return "trace";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarning: return "warning";
    case LogLevel::kError: return "error";
    case LogLevel::kQuiet: break;
  }
  return "";
}

}  // namespace

void set_log_level(LogLevel level) {
  g_level.store(level, std::memory_order_relaxed);
}

bool log_enabled(LogLevel level) {
  return level >= g_level.load(std::memory_order_relaxed) && level != LogLevel::kQuiet;
}

void log_line(LogLevel level, std::string_view text) {
  const std::chrono::duration<double> since_start = std::chrono::steady_clock::now() - g_start;
  // One fwrite a line keeps lines of different threads apart.
  const std::string line = fmt::format("[{:9.3f}] {}: {}\n", since_start.count(), level_name(level), text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace orfebre
