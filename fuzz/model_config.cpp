// config.json and generation_config.json. What is accepted is the demo's shape or another of the three, and
// every number in it may be used without a further look.
//
// Input: config.json, then, behind a byte 0xFF that no JSON text holds, generation_config.json.
#include "checkpoint/config.h"
#include "support/refusal.h"
#include "support/scratch_folder.h"

#include <algorithm>
#include <cstdint>

namespace orfebre::fuzz {
namespace {

constexpr char kSeparator = '\xff';

void check_ids(const std::vector<int>& ids, const ModelConfig& model) {
  ORFEBRE_CHECK(
      std::all_of(ids.begin(), ids.end(), [&](int id) { return id >= 0 && id < model.shape.vocab; }));
}

void check_entry(const std::optional<QuantizationEntry>& entry) {
  if (!entry) {
    return;
  }
  ORFEBRE_CHECK(entry->bits >= 1 && entry->bits <= 32);
  ORFEBRE_CHECK(entry->group_size >= 1 && entry->group_size <= 4096);
}

void check_model(const ModelConfig& model) {
  const bool known = std::any_of(kShapes.begin(), kShapes.end(), [&](const ShapeInfo& shape) {
    return shape.hidden == model.shape.hidden && shape.layers == model.shape.layers;
  });
  ORFEBRE_CHECK(known);
  ORFEBRE_CHECK(model.max_context >= 1 && model.max_context <= model.shape.max_context);
  check_ids(model.eos_ids, model);
  check_entry(model.quantization.common);
  for (const auto& [module_path, entry] : model.quantization.exceptions) {
    check_entry(entry);
    ORFEBRE_CHECK(model.quantization.names("language_model.model." + module_path));
  }
  check_entry(model.quantization.of("language_model.model.layers.0.mlp.gate"));
}

bool is_within(const std::optional<double>& value, double low, double high) {
  return !value || (*value >= low && *value <= high);
}

void check_generation(const GenerationConfig& config, const ModelConfig& model) {
  ORFEBRE_CHECK(!config.eos_ids.empty());
  check_ids(config.eos_ids, model);
  ORFEBRE_CHECK(is_within(config.temperature, 0, 100));
  ORFEBRE_CHECK(is_within(config.top_p, 0, 1));
  ORFEBRE_CHECK(is_within(config.min_p, 0, 1));
  ORFEBRE_CHECK(is_within(config.presence_penalty, -100, 100));
  ORFEBRE_CHECK(config.top_k.value_or(0) >= 0);
}

void read_both(const std::string& folder) {
  const ModelConfig model = read_model_config(folder);
  check_model(model);
  check_generation(read_generation_config(folder, model), model);
}

}  // namespace
}  // namespace orfebre::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orfebre;
  static const fuzz::ScratchFolder folder;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t separator = std::min(input.find(fuzz::kSeparator), size);
  folder.write("config.json", input.substr(0, separator));
  if (separator < size) {
    folder.write("generation_config.json", input.substr(separator + 1));
  } else {
    folder.remove("generation_config.json");
  }
  try {
    fuzz::read_both(folder.path());
  } catch (const Error& error) {
    fuzz::check_refusal(error, {ErrorKind::kBadCheckpoint, ErrorKind::kUnsupported});
  }
  return 0;
}
