// The program's entry: reads the command line, runs one command, turns errors into one sentence and an exit
// code.
#include "base/error.h"
#include "cli/commands.h"
#include "cli/system/core_dumps.h"
#include "cli/system/signals.h"
#include "cli/system/standard_streams.h"

#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

namespace {

int exit_code(orfebre::ErrorKind kind) {
  switch (kind) {
    case orfebre::ErrorKind::kInvalidRequest:
    case orfebre::ErrorKind::kContextLength:
    case orfebre::ErrorKind::kNotFound:
    case orfebre::ErrorKind::kUnsupported: return 2;
    default: return 1;
  }
}

// What a command printed may wait in a buffer; `code` unless it cannot be written.
int flushed(int code) {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot write to standard output");
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    orfebre::cli::open_standard_streams();
    const orfebre::cli::ParsedLine line = orfebre::cli::parse_command_line(argc, argv);
    if (!line.command) {
      return flushed(line.exit_code);
    }
    if (!line.allow_core_dumps) {
      orfebre::cli::forbid_core_dumps();
    }
    return flushed(
        std::visit([](const auto& command) { return orfebre::cli::run_command(command); }, *line.command));
  } catch (const orfebre::Error& error) {
    if (orfebre::cli::stop_requested().load()) {
      return 0;  // what was going on was given up, as asked
    }
    std::fprintf(stderr, "orfebre: %s\n", error.what());
    return exit_code(error.kind());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "orfebre: out of memory; try a smaller --context or --parallel\n");
    return 1;
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "orfebre: %s\n", error.what());
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "orfebre: internal error: %s\n", error.what());
    return 1;
  }
}
