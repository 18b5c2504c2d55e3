// Quantising a bf16 or f32 Hugging Face checkpoint into an MLX 4-bit directory, as mlx-lm's converter does:
// the same names and the same bytes in every tensor. Vision tower and MTP head are left out, as there.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace orfebre {

struct ExportOptions {
  uint64_t max_shard_bytes = uint64_t{5} << 30;  // a file is closed when the next matrix would exceed this
  // Called from the calling thread after each matrix: bytes written so far, bytes in all.
  std::function<void(uint64_t done_bytes, uint64_t total_bytes)> progress;
  const std::atomic<bool>* cancel = nullptr;
};

struct ExportSummary {
  int n_tensors = 0;
  int n_files = 0;  // safetensors files
  uint64_t tensor_bytes = 0;
};

// Writes DESTINATION (which must not exist) from SOURCE: weights, index, config.json with the quantisation,
// and SOURCE's tokenizer.json, tokenizer_config.json, chat_template.jinja and generation_config.json where
// there are any. The directory is built as DESTINATION.partial and renamed when complete; an error removes
// it. Throws Error: as Checkpoint does; kUnsupported when SOURCE is quantised already; kInvalidRequest when
// DESTINATION or its .partial exists, the disk is too small, or `cancel` was set.
ExportSummary export_quantized(const std::string& source, const std::string& destination,
                               const ExportOptions& options = {});

}  // namespace orfebre
