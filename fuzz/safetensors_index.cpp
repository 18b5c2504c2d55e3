// model.safetensors.index.json over two shards that are right: an accepted index names every tensor's own
// file, and no file outside the folder is opened.
//
// Input: the text of the index.
#include "checkpoint/safetensors.h"
#include "support/refusal.h"
#include "support/scratch_folder.h"

#include <cstdint>
#include <filesystem>

namespace orfebre::fuzz {
namespace {

std::string shard(std::string_view header, size_t data_bytes) {
  std::string file(8, '\0');
  file[0] = static_cast<char>(header.size());
  return file.append(header).append(data_bytes, '\x5a');
}

// Two shards in the folder, and one beside it that no index may reach.
struct Checkpoint {
  Checkpoint() {
    std::filesystem::create_directory(inner());
    const std::string first = shard(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})", 3);
    const std::string second = shard(R"({"b":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}})", 4);
    folder.write("outside.safetensors", shard(R"({"c":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})", 0));
    folder.write("inner/1.safetensors", first);
    folder.write("inner/2.safetensors", second);
  }
  std::string inner() const { return folder.path() + "/inner"; }

  ScratchFolder folder;
};

void check_accepted(const SafetensorsSet& set, const std::string& folder) {
  for (const InputFile& file : set.files()) {
    ORFEBRE_CHECK(file.path() == folder + "/1.safetensors" || file.path() == folder + "/2.safetensors");
  }
  for (const TensorInfo& tensor : set.tensors()) {
    const bool is_first =
        set.files()[static_cast<size_t>(tensor.file_index)].path().ends_with("1.safetensors");
    ORFEBRE_CHECK(tensor.name == (is_first ? "a" : "b"));
    ORFEBRE_CHECK(tensor.size_bytes == (is_first ? 3u : 4u));
  }
}

}  // namespace
}  // namespace orfebre::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orfebre;
  static const fuzz::Checkpoint checkpoint;
  const std::string_view index(reinterpret_cast<const char*>(data), size);
  checkpoint.folder.write("inner/model.safetensors.index.json", index);
  try {
    fuzz::check_accepted(SafetensorsSet(checkpoint.inner()), checkpoint.inner());
  } catch (const Error& error) {
    fuzz::check_refusal(error, {ErrorKind::kBadCheckpoint});
  }
  return 0;
}
