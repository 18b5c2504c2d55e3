// `orfebre quantize`: a bf16 checkpoint in, an MLX 4-bit directory out.
#include "checkpoint/export.h"
#include "cli/commands.h"
#include "cli/system/progress.h"
#include "cli/system/signals.h"
#include "cli/system/system_memory.h"

#include <fmt/core.h>

namespace orfebre::cli {

int run_command(const QuantizeCommand& command) {
  catch_stop_signals();
  ExportSummary summary;
  {
    ProgressBar bar("quantising");
    ExportOptions options;
    options.progress = [&bar](uint64_t done, uint64_t total) { bar.update(done, total); };
    options.cancel = &stop_requested();
    summary = export_quantized(command.source, command.destination, options);
  }
  fmt::print("{}: {} tensors, {} in {} file{}\n", command.destination, summary.n_tensors,
             format_bytes(summary.tensor_bytes), summary.n_files, summary.n_files == 1 ? "" : "s");
  return 0;
}

}  // namespace orfebre::cli
