// The program's entry: reads the command line, runs one command, turns errors into one sentence and an exit
// code.
#include "base/error.h"
#include "cli/commands.h"
#include "cli/system/signals.h"

#include <cstdio>
#include <exception>
#include <new>

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

}  // namespace

int main(int argc, char** argv) {
  try {
    const orfebre::cli::ParsedLine line = orfebre::cli::parse_command_line(argc, argv);
    if (!line.command) {
      return line.exit_code;
    }
    return std::visit([](const auto& command) { return orfebre::cli::run_command(command); }, *line.command);
  } catch (const orfebre::Error& error) {
    if (orfebre::cli::stop_requested().load()) {
      return 0;  // what was going on was given up, as asked
    }
    std::fprintf(stderr, "orfebre: %s\n", error.what());
    return exit_code(error.kind());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "orfebre: out of memory; try a smaller --context or --parallel\n");
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "orfebre: internal error: %s\n", error.what());
    return 1;
  }
}
