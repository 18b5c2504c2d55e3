// What a checkpoint's files hold, counted: for holding a download against the published numbers.
#pragma once

#include "checkpoint/checkpoint.h"

#include <cstdint>
#include <map>
#include <string>

namespace orfebre {

struct TensorTotals {
  int n_files = 0;
  int n_tensors = 0;  // all of the files: vision tower and MTP head too
  uint64_t tensor_bytes = 0;
  int n_text_tensors = 0;  // those that this program reads
  uint64_t text_bytes = 0;
  std::map<int, int> matrices_by_bits;
  bool converted = false;  // norms stored as 1 + w: MLX's convention
  std::string a_log_dtype;

  // Of the same shape in the public 4-bit layout: 4 bits, routers and shared gates 8, vectors bf16.
  int public_text_tensors = 0;
  uint64_t public_text_bytes = 0;
  bool is_public_layout() const {
    return n_text_tensors == public_text_tensors && text_bytes == public_text_bytes && converted;
  }
};

TensorTotals count_tensors(const Checkpoint& checkpoint);

}  // namespace orfebre
