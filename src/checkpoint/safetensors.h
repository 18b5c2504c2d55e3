// Reading safetensors files: the header of one file, and the set of files (shards) that make a checkpoint.
//
// Everything in a header is checked before any of it is used: length, JSON, dtypes, shapes without overflow,
// offsets inside the file, no overlap and no hole, bytes = elements x element size, no name twice in a file
// or over shards. After opening, every TensorInfo may be trusted to lie inside its file. Does not know which
// tensors a model needs (checkpoint.h) nor what they mean (name_map.h).
#pragma once

#include "base/input_file.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace orfebre {

enum class TensorDtype {
  kBool,
  kU8,
  kI8,
  kF8E4M3,
  kF8E5M2,
  kU16,
  kI16,
  kF16,
  kBf16,
  kU32,
  kI32,
  kF32,
  kU64,
  kI64,
  kF64
};

size_t dtype_bytes(TensorDtype dtype);
const char* dtype_name(TensorDtype dtype);  // as safetensors spells it: "BF16"

struct TensorInfo {
  std::string name;
  TensorDtype dtype = TensorDtype::kF32;
  std::vector<int64_t> shape;
  int file_index = 0;         // into SafetensorsSet::files()
  uint64_t offset_bytes = 0;  // from the start of the file
  uint64_t size_bytes = 0;
};

std::string shape_text(std::span<const int64_t> shape);  // "[8192, 4, 1]"

// Parses and checks the header of one file. Throws Error(kBadCheckpoint) naming file, tensor, expected and
// found.
std::vector<TensorInfo> read_safetensors_header(const InputFile& file);

// A checkpoint's weights: model.safetensors.index.json with its shards when there is an index, else
// model.safetensors. Immutable after construction; read() may be called from any number of threads.
class SafetensorsSet {
 public:
  // Throws Error(kNotFound) when the directory holds neither, Error(kBadCheckpoint) for anything wrong
  // inside, among it an index that names a missing file, a file outside the directory or a tensor that its
  // file lacks.
  explicit SafetensorsSet(const std::string& directory, PageCache cache = PageCache::kUse);

  const std::string& directory() const { return directory_; }
  const std::vector<InputFile>& files() const { return files_; }
  // All tensors, file by file in the order of their bytes.
  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  // Null when there is none of that name. Valid as long as the set.
  const TensorInfo* find(std::string_view name) const;
  uint64_t total_bytes() const { return total_bytes_; }

  // destination[0, n_bytes) <- the tensor's bytes from `offset_bytes` of the tensor on. Throws as
  // InputFile::read.
  void read(void* destination, const TensorInfo& tensor, uint64_t offset_bytes, size_t n_bytes) const;
  // The kernel may forget its cached pages of such a range.
  void drop_cached_pages(const TensorInfo& tensor, uint64_t offset_bytes, uint64_t n_bytes) const;
  void check_unchanged(const TensorInfo& tensor) const;
  void check_unchanged() const;  // every file

 private:
  void open_index(const std::string& index_path);
  void add_file(const std::string& file_name);

  std::string directory_;
  PageCache cache_;
  std::vector<InputFile> files_;
  std::vector<TensorInfo> tensors_;
  std::unordered_map<std::string_view, size_t> by_name_;  // keys point into tensors_, built last
  uint64_t total_bytes_ = 0;
};

}  // namespace orfebre
