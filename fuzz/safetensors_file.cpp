// The header of one safetensors file. An accepted file's tensors lie inside it, tile its data, have the size
// that dtype and shape say, and can be read.
//
// Input: a mode byte. Even: the rest is the file. Odd: two bytes, the size of the data section, then the
// header's text; the length in front is made to fit, so that mutations reach the JSON.
#include "checkpoint/safetensors.h"
#include "support/byte_source.h"
#include "support/refusal.h"
#include "support/scratch_folder.h"

#include <cstring>
#include <set>

namespace orfebre::fuzz {
namespace {

std::string file_bytes(ByteSource in) {
  if (!in.flag()) {
    return std::string(in.take_rest());
  }
  const size_t data_bytes = in.byte() + size_t{256} * in.byte();
  const std::string_view header = in.take_rest();
  const uint64_t header_bytes = header.size();
  std::string file(sizeof(header_bytes), '\0');
  std::memcpy(file.data(), &header_bytes, sizeof(header_bytes));
  return file.append(header).append(data_bytes, '\x5a');
}

uint64_t size_bytes(const TensorInfo& tensor) {
  uint64_t size = dtype_bytes(tensor.dtype);
  for (const int64_t dimension : tensor.shape) {
    ORFEBRE_CHECK(dimension >= 0);
    size *= static_cast<uint64_t>(dimension);
  }
  return size;
}

void check_accepted(const SafetensorsSet& set, uint64_t n_file_bytes) {
  std::set<std::string> names;
  uint64_t covered_bytes = 0;
  for (const TensorInfo& tensor : set.tensors()) {
    ORFEBRE_CHECK(names.insert(tensor.name).second);
    ORFEBRE_CHECK(set.find(tensor.name) == &tensor);
    ORFEBRE_CHECK(tensor.size_bytes == size_bytes(tensor));
    ORFEBRE_CHECK(tensor.offset_bytes <= n_file_bytes);
    ORFEBRE_CHECK(tensor.size_bytes <= n_file_bytes - tensor.offset_bytes);
    ORFEBRE_CHECK(tensor.offset_bytes == n_file_bytes - set.total_bytes() + covered_bytes);
    covered_bytes += tensor.size_bytes;
    std::string bytes(tensor.size_bytes, '\0');
    set.read(bytes.data(), tensor, 0, bytes.size());
  }
  ORFEBRE_CHECK(covered_bytes == set.total_bytes());
}

}  // namespace
}  // namespace orfebre::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orfebre;
  static const fuzz::ScratchFolder folder;
  const std::string file = fuzz::file_bytes(fuzz::ByteSource(data, size));
  folder.write("model.safetensors", file);
  try {
    fuzz::check_accepted(SafetensorsSet(folder.path()), file.size());
  } catch (const Error& error) {
    fuzz::check_refusal(error, {ErrorKind::kBadCheckpoint});
  }
  return 0;
}
