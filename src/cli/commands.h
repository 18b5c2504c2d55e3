// The subcommands: each returns the program's exit code or throws Error.
#pragma once

#include "cli/options.h"

namespace orfebre::cli {

int run_command(const ServeCommand& command);
int run_command(const RunCommand& command);
int run_command(const ChatCommand& command);
int run_command(const InspectCommand& command);
int run_command(const TokenizeCommand& command);
int run_command(const QuantizeCommand& command);
int run_command(const BenchCommand& command);
int run_command(const VerifyCommand& command);

}  // namespace orfebre::cli
