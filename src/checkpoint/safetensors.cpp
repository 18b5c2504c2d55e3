#include "checkpoint/safetensors.h"

#include "base/error.h"
#include "base/printable.h"
#include "checkpoint/json_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>
#include <limits>

namespace orfebre {
namespace {

static_assert(std::endian::native == std::endian::little,
              "safetensors data is little-endian and is read as it lies");

// The largest checkpoint of this family has about 2,100 tensors and a header of 0.4 MB.
constexpr uint64_t kMaxHeaderBytes = 16u << 20;
constexpr size_t kMaxRank = 8;

struct DtypeRow {
  TensorDtype dtype;
  const char* name;
  size_t bytes;
};

constexpr std::array<DtypeRow, 15> kDtypes = {{
    {TensorDtype::kBool, "BOOL", 1},
    {TensorDtype::kU8, "U8", 1},
    {TensorDtype::kI8, "I8", 1},
    {TensorDtype::kF8E4M3, "F8_E4M3", 1},
    {TensorDtype::kF8E5M2, "F8_E5M2", 1},
    {TensorDtype::kU16, "U16", 2},
    {TensorDtype::kI16, "I16", 2},
    {TensorDtype::kF16, "F16", 2},
    {TensorDtype::kBf16, "BF16", 2},
    {TensorDtype::kU32, "U32", 4},
    {TensorDtype::kI32, "I32", 4},
    {TensorDtype::kF32, "F32", 4},
    {TensorDtype::kU64, "U64", 8},
    {TensorDtype::kI64, "I64", 8},
    {TensorDtype::kF64, "F64", 8},
}};

// A position in a file for messages: `PATH: tensor "NAME"`.
std::string place(const InputFile& file, std::string_view name) {
  return fmt::format("{}: tensor \"{}\"", file.path(), printable(name));
}

TensorDtype parse_dtype(const std::string& where, simdjson::dom::object fields) {
  std::string_view text;
  if (fields["dtype"].get(text) != simdjson::SUCCESS) {
    fail(ErrorKind::kBadCheckpoint, "{}: expected a \"dtype\" string, found none", where);
  }
  for (const DtypeRow& row : kDtypes) {
    if (text == row.name) {
      return row.dtype;
    }
  }
  fail(ErrorKind::kBadCheckpoint,
       "{}: unknown dtype \"{}\"; expected BF16, F32, U32 or another safetensors type", where,
       printable(text));
}

std::vector<int64_t> parse_shape(const std::string& where, simdjson::dom::object fields) {
  simdjson::dom::array dimensions;
  if (fields["shape"].get(dimensions) != simdjson::SUCCESS) {
    fail(ErrorKind::kBadCheckpoint, "{}: expected a \"shape\" list, found none", where);
  }
  std::vector<int64_t> shape;
  for (simdjson::dom::element element : dimensions) {
    uint64_t dimension = 0;
    if (element.get(dimension) != simdjson::SUCCESS ||
        dimension > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      fail(ErrorKind::kBadCheckpoint, "{}: expected whole numbers from 0 on as shape, found something else",
           where);
    }
    if (shape.size() == kMaxRank) {
      fail(ErrorKind::kBadCheckpoint, "{}: expected a shape of at most {} dimensions, found more", where,
           kMaxRank);
    }
    shape.push_back(static_cast<int64_t>(dimension));
  }
  return shape;
}

uint64_t checked_size_bytes(const std::string& where, const std::vector<int64_t>& shape, TensorDtype dtype) {
  uint64_t size_bytes = dtype_bytes(dtype);
  for (const int64_t dimension : shape) {
    if (__builtin_mul_overflow(size_bytes, static_cast<uint64_t>(dimension), &size_bytes)) {
      fail(ErrorKind::kBadCheckpoint, "{}: the size of shape {} overflows 64 bits", where, shape_text(shape));
    }
  }
  return size_bytes;
}

TensorInfo parse_tensor(const InputFile& file, std::string_view name, simdjson::dom::element value,
                        uint64_t data_start) {
  const std::string where = place(file, name);
  simdjson::dom::object fields;
  if (value.get(fields) != simdjson::SUCCESS) {
    fail(ErrorKind::kBadCheckpoint, "{}: expected an object with dtype, shape and data_offsets", where);
  }
  TensorInfo tensor;
  tensor.name = std::string(name);
  tensor.dtype = parse_dtype(where, fields);
  tensor.shape = parse_shape(where, fields);
  simdjson::dom::array offsets;
  uint64_t begin = 0;
  uint64_t end = 0;
  if (fields["data_offsets"].get(offsets) != simdjson::SUCCESS || offsets.size() != 2 ||
      offsets.at(0).get(begin) != simdjson::SUCCESS || offsets.at(1).get(end) != simdjson::SUCCESS) {
    fail(ErrorKind::kBadCheckpoint, "{}: expected two whole numbers as \"data_offsets\"", where);
  }
  const uint64_t data_bytes = file.size_bytes() - data_start;
  if (begin > end || end > data_bytes) {
    fail(ErrorKind::kBadCheckpoint,
         "{}: expected offsets inside the {} bytes of data that the file holds, found {} to {}; the file is "
         "truncated or damaged",
         where, data_bytes, begin, end);
  }
  const uint64_t expected_bytes = checked_size_bytes(where, tensor.shape, tensor.dtype);
  if (end - begin != expected_bytes) {
    fail(ErrorKind::kBadCheckpoint, "{}: shape {} of {} takes {} bytes, but the offsets span {}", where,
         shape_text(tensor.shape), dtype_name(tensor.dtype), expected_bytes, end - begin);
  }
  tensor.offset_bytes = data_start + begin;
  tensor.size_bytes = expected_bytes;
  return tensor;
}

// The format asks that tensors tile the data section: neither overlap nor gap, and nothing behind the last.
void check_tiling(const InputFile& file, std::vector<TensorInfo>& tensors, uint64_t data_start) {
  std::sort(tensors.begin(), tensors.end(), [](const TensorInfo& left, const TensorInfo& right) {
    return left.offset_bytes != right.offset_bytes ? left.offset_bytes < right.offset_bytes
                                                   : left.size_bytes < right.size_bytes;
  });
  uint64_t position = data_start;
  for (const TensorInfo& tensor : tensors) {
    if (tensor.offset_bytes != position) {
      fail(ErrorKind::kBadCheckpoint,
           "{}: expected its data at byte {}, where the tensor before it ends, found {}: {}",
           place(file, tensor.name), position, tensor.offset_bytes,
           tensor.offset_bytes < position ? "tensors overlap" : "there is a hole");
    }
    position += tensor.size_bytes;
  }
  if (position != file.size_bytes()) {
    fail(ErrorKind::kBadCheckpoint, "{}: expected {} bytes by its header, found {}; the file is damaged",
         file.path(), position, file.size_bytes());
  }
}

// False for a dangling link too; an unreadable file exists, and says so when it is opened.
bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// A shard must be a plain name in the checkpoint's own directory.
void check_shard_name(const std::string& index_path, std::string_view name) {
  const bool has_separator = name.find('/') != std::string_view::npos ||
                             name.find('\\') != std::string_view::npos ||
                             name.find('\0') != std::string_view::npos;
  if (has_separator || !name.ends_with(".safetensors") || name.starts_with('.')) {
    fail(ErrorKind::kBadCheckpoint, "{}: expected names of .safetensors files beside the index, found \"{}\"",
         index_path, printable(name));
  }
}

}  // namespace

size_t dtype_bytes(TensorDtype dtype) {
  return kDtypes[static_cast<size_t>(dtype)].bytes;
}

const char* dtype_name(TensorDtype dtype) {
  return kDtypes[static_cast<size_t>(dtype)].name;
}

std::string shape_text(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    text += fmt::format("{}{}", axis == 0 ? "" : ", ", shape[axis]);
  }
  return text + "]";
}

std::vector<TensorInfo> read_safetensors_header(const InputFile& file) {
  uint64_t header_bytes = 0;
  if (file.size_bytes() < sizeof(header_bytes)) {
    fail(ErrorKind::kBadCheckpoint, "{}: expected a safetensors file, found only {} bytes; it is truncated",
         file.path(), file.size_bytes());
  }
  file.read(&header_bytes, 0, sizeof(header_bytes));
  const uint64_t available_bytes = file.size_bytes() - sizeof(header_bytes);
  if (header_bytes > kMaxHeaderBytes || header_bytes > available_bytes) {
    fail(ErrorKind::kBadCheckpoint,
         "{}: expected a header of at most {} bytes, found {}; the file is truncated or is not safetensors",
         file.path(), std::min(kMaxHeaderBytes, available_bytes), header_bytes);
  }
  std::string header(static_cast<size_t>(header_bytes), '\0');
  file.read(header.data(), sizeof(header_bytes), header.size());
  simdjson::dom::parser parser;
  const simdjson::dom::object object = parse_json_object(parser, header, file.path() + ": header");
  const uint64_t data_start = sizeof(header_bytes) + header_bytes;
  std::vector<TensorInfo> tensors;
  for (const auto& [name, value] : object) {
    if (name != "__metadata__") {
      tensors.push_back(parse_tensor(file, name, value, data_start));
    }
  }
  check_tiling(file, tensors, data_start);
  return tensors;
}

SafetensorsSet::SafetensorsSet(const std::string& directory, PageCache cache)
    : directory_(directory), cache_(cache) {
  const std::string index_path = directory + "/model.safetensors.index.json";
  const std::string single_name = "model.safetensors";
  if (exists(index_path)) {
    open_index(index_path);
  } else if (exists(directory + "/" + single_name)) {
    add_file(single_name);
  } else {
    fail(ErrorKind::kNotFound,
         "{}: expected model.safetensors or model.safetensors.index.json in this directory, found "
         "neither",
         directory);
  }
  for (size_t index = 0; index < tensors_.size(); ++index) {
    const auto [entry, is_new] = by_name_.emplace(tensors_[index].name, index);
    if (!is_new) {
      const TensorInfo& first = tensors_[entry->second];
      fail(ErrorKind::kBadCheckpoint, "{}: tensor \"{}\" is also in {}; expected every tensor once",
           files_[static_cast<size_t>(tensors_[index].file_index)].path(), printable(first.name),
           files_[static_cast<size_t>(first.file_index)].path());
    }
    total_bytes_ += tensors_[index].size_bytes;
  }
}

void SafetensorsSet::open_index(const std::string& index_path) {
  const std::string text = read_small_file(index_path, kMaxHeaderBytes);
  simdjson::dom::parser parser;
  const simdjson::dom::object root = parse_json_object(parser, text, index_path);
  simdjson::dom::object weight_map;
  if (root["weight_map"].get(weight_map) != simdjson::SUCCESS) {
    fail(ErrorKind::kBadCheckpoint, "{}: expected an object \"weight_map\", found none", index_path);
  }
  std::unordered_map<std::string_view, int> file_indices;
  std::vector<std::pair<std::string_view, int>> promised;  // tensor, file
  for (const auto& [tensor_name, value] : weight_map) {
    std::string_view file_name;
    if (value.get(file_name) != simdjson::SUCCESS) {
      fail(ErrorKind::kBadCheckpoint, "{}: expected a file name for tensor \"{}\"", index_path,
           printable(tensor_name));
    }
    const auto [entry, is_new] = file_indices.emplace(file_name, static_cast<int>(files_.size()));
    if (is_new) {
      check_shard_name(index_path, file_name);
      add_file(std::string(file_name));
    }
    promised.emplace_back(tensor_name, entry->second);
  }
  std::unordered_map<std::string_view, int> found;
  for (const TensorInfo& tensor : tensors_) {
    found.emplace(tensor.name, tensor.file_index);
  }
  for (const auto& [tensor_name, file_index] : promised) {
    const auto entry = found.find(tensor_name);
    if (entry == found.end() || entry->second != file_index) {
      fail(ErrorKind::kBadCheckpoint,
           "{}: expected tensor \"{}\" in {}, where it is missing; index and shards do not "
           "belong together",
           index_path, printable(tensor_name), files_[static_cast<size_t>(file_index)].path());
    }
  }
}

void SafetensorsSet::add_file(const std::string& file_name) {
  const std::string path = directory_ + "/" + file_name;
  if (!exists(path)) {
    fail(ErrorKind::kBadCheckpoint, "{}: the file {} is missing; download the checkpoint again", directory_,
         printable(file_name));
  }
  files_.emplace_back(path, cache_);
  std::vector<TensorInfo> tensors = read_safetensors_header(files_.back());
  for (TensorInfo& tensor : tensors) {
    tensor.file_index = static_cast<int>(files_.size()) - 1;
    tensors_.push_back(std::move(tensor));
  }
}

const TensorInfo* SafetensorsSet::find(std::string_view name) const {
  const auto entry = by_name_.find(name);
  return entry == by_name_.end() ? nullptr : &tensors_[entry->second];
}

void SafetensorsSet::read(void* destination, const TensorInfo& tensor, uint64_t offset_bytes,
                          size_t n_bytes) const {
  ORFEBRE_CHECK(offset_bytes <= tensor.size_bytes && n_bytes <= tensor.size_bytes - offset_bytes);
  files_[static_cast<size_t>(tensor.file_index)].read(destination, tensor.offset_bytes + offset_bytes,
                                                      n_bytes);
}

void SafetensorsSet::drop_cached_pages(const TensorInfo& tensor, uint64_t offset_bytes,
                                       uint64_t n_bytes) const {
  files_[static_cast<size_t>(tensor.file_index)].drop_cached_pages(tensor.offset_bytes + offset_bytes,
                                                                   n_bytes);
}

void SafetensorsSet::check_unchanged(const TensorInfo& tensor) const {
  files_[static_cast<size_t>(tensor.file_index)].check_unchanged();
}

void SafetensorsSet::check_unchanged() const {
  for (const InputFile& file : files_) {
    file.check_unchanged();
  }
}

}  // namespace orfebre
