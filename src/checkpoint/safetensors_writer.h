// Writing one safetensors file as a stream: the header first, then the tensors' bytes in the announced order.
// The file appears under its name only when complete and on disk (temporary file, fsync, rename).
// One thread at a time.
#pragma once

#include "checkpoint/safetensors.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace orfebre {

struct TensorPlan {
  std::string name;
  TensorDtype dtype = TensorDtype::kBf16;
  std::vector<int64_t> shape;
};

uint64_t plan_bytes(const TensorPlan& plan);

class SafetensorsWriter {
 public:
  // Creates PATH.partial and writes the header with the metadata {"format": "mlx"}, which tells other readers
  // the layout. Throws Error(kBadCheckpoint) naming the file whenever the disk refuses.
  SafetensorsWriter(const std::string& path, const std::vector<TensorPlan>& plans);
  // Removes the temporary file unless finish() succeeded.
  ~SafetensorsWriter();
  SafetensorsWriter(const SafetensorsWriter&) = delete;
  SafetensorsWriter& operator=(const SafetensorsWriter&) = delete;

  // Appends bytes of the current tensor, or of several, in the order of the plans.
  void append(const void* source, size_t n_bytes);
  // Checks that exactly the announced bytes came, syncs and renames.
  void finish();

 private:
  std::string path_;
  std::string partial_path_;
  int descriptor_ = -1;
  uint64_t expected_bytes_ = 0;
  uint64_t written_bytes_ = 0;
};

// Writes a whole small file the same way: temporary file, fsync, rename.
void write_file_atomically(const std::string& path, const std::string& content);
// Makes renames inside `directory` durable.
void sync_directory(const std::string& directory);

}  // namespace orfebre
