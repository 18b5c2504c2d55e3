#include "checkpoint/export.h"

#include "base/error.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/json_file.h"
#include "checkpoint/safetensors_writer.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <variant>

namespace orfebre {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::array<const char*, 4> kCopiedFiles = {"tokenizer.json", "tokenizer_config.json",
                                                     "chat_template.jinja", "generation_config.json"};
constexpr uint64_t kMaxConfigBytes = 4u << 20;

// One weight with the tensors that it becomes; a shard holds whole units.
struct Unit {
  std::variant<MatrixSpec, VectorSpec> spec;
  std::vector<TensorPlan> plans;
  uint64_t size_bytes = 0;
};

Unit matrix_unit(const MatrixSpec& spec) {
  const int64_t bits = default_bits(spec.role);
  const std::string module = module_path(mlx_naming(), spec.role, spec.layer);
  const auto shape = [&](int64_t columns) {
    return spec.n_matrices == 1 ? std::vector<int64_t>{spec.n_out, columns}
                                : std::vector<int64_t>{spec.n_matrices, spec.n_out, columns};
  };
  const int64_t n_groups = spec.n_in / CommonShape::kQuantGroup;
  Unit unit{spec,
            {{module + ".weight", TensorDtype::kU32, shape(spec.n_in * bits / 32)},
             {module + ".scales", TensorDtype::kBf16, shape(n_groups)},
             {module + ".biases", TensorDtype::kBf16, shape(n_groups)}},
            0};
  return unit;
}

Unit vector_unit(const VectorSpec& spec, const Checkpoint& source) {
  const ShapeInfo& model = source.shape();
  std::vector<int64_t> shape = {spec.size};
  if (spec.role == VectorRole::kGdnConv) {
    shape = {model.conv_channels(), model.conv_taps, 1};
  }
  // The converter rounds everything to bf16 save A_log, which keeps its type.
  const bool stays_f32 =
      spec.role == VectorRole::kGdnALog && source.vector_tensor(spec).dtype != TensorDtype::kBf16;
  return {spec,
          {{vector_tensor_name(mlx_naming(), spec.role, spec.layer),
            stays_f32 ? TensorDtype::kF32 : TensorDtype::kBf16, shape}},
          0};
}

std::vector<Unit> plan_units(const Checkpoint& source) {
  std::vector<Unit> units;
  for (const VectorSpec& spec : vector_specs(source.shape())) {
    units.push_back(vector_unit(spec, source));
  }
  for (const MatrixSpec& spec : matrix_specs(source.shape())) {
    units.push_back(matrix_unit(spec));
  }
  for (Unit& unit : units) {
    for (const TensorPlan& plan : unit.plans) {
      unit.size_bytes += plan_bytes(plan);
    }
  }
  return units;
}

std::vector<std::vector<Unit>> split_into_shards(std::vector<Unit> units, uint64_t max_shard_bytes) {
  std::vector<std::vector<Unit>> shards;
  uint64_t shard_bytes = 0;
  for (Unit& unit : units) {
    if (shards.empty() || shard_bytes + unit.size_bytes > max_shard_bytes) {
      shards.emplace_back();
      shard_bytes = 0;
    }
    shard_bytes += unit.size_bytes;
    shards.back().push_back(std::move(unit));
  }
  return shards;
}

void append_matrix(SafetensorsWriter& writer, Checkpoint& source, const MatrixSpec& spec, const Unit& unit) {
  const StoredMatrix matrix = read_matrix(source, spec);
  writer.append(matrix.view.codes, plan_bytes(unit.plans[0]));
  writer.append(matrix.view.scales, plan_bytes(unit.plans[1]));
  writer.append(matrix.view.biases, plan_bytes(unit.plans[2]));
  source.release_rows(spec, 0, row_count(spec));
}

void append_vector(SafetensorsWriter& writer, Checkpoint& source, const VectorSpec& spec, const Unit& unit) {
  const std::vector<float> values = source.read_vector(spec);
  if (unit.plans[0].dtype == TensorDtype::kF32) {
    writer.append(values.data(), values.size() * sizeof(float));
    return;
  }
  std::vector<bf16> rounded(values.size());
  std::transform(values.begin(), values.end(), rounded.begin(), [](float value) { return to_bf16(value); });
  writer.append(rounded.data(), rounded.size() * sizeof(bf16));
}

json parse_config_file(const std::string& path) {
  try {
    return json::parse(read_small_file(path, kMaxConfigBytes));
  } catch (const json::exception& error) {
    fail(ErrorKind::kBadCheckpoint, "{}: expected JSON, found: {}", path, error.what());
  }
}

json quantization_entry(int bits) {
  return {{"group_size", CommonShape::kQuantGroup}, {"bits", bits}};
}

std::string exported_config(const std::string& directory, const ShapeInfo& shape) {
  json config = parse_config_file(directory + "/config.json");
  config.erase("vision_config");
  config.erase("_name_or_path");
  json quantization = quantization_entry(4);
  quantization["mode"] = "affine";
  for (const MatrixSpec& spec : matrix_specs(shape)) {
    if (default_bits(spec.role) != 4) {
      quantization[module_path(mlx_naming(), spec.role, spec.layer)] =
          quantization_entry(default_bits(spec.role));
    }
  }
  config["quantization"] = quantization;
  config["quantization_config"] = quantization;
  const std::string generation_path = directory + "/generation_config.json";
  if (fs::exists(generation_path)) {
    const json generation = parse_config_file(generation_path);
    if (generation.contains("eos_token_id")) {
      config["eos_token_id"] = generation["eos_token_id"];
    }
  }
  return config.dump(4) + "\n";
}

void refuse_unfit_source(const Checkpoint& source, const std::string& directory) {
  for (const MatrixSpec& spec : matrix_specs(source.shape())) {
    if (source.stored_bits(spec) < 16) {
      fail(ErrorKind::kUnsupported, "{}: expected an unquantised checkpoint, found {} bits for {}", directory,
           source.stored_bits(spec), weight_name(spec.role, spec.layer));
    }
  }
}

void refuse_unfit_destination(const std::string& destination, uint64_t needed_bytes) {
  for (const std::string& path : {destination, destination + ".partial"}) {
    if (fs::exists(fs::symlink_status(path))) {
      fail(ErrorKind::kInvalidRequest,
           "{}: expected a directory that does not exist yet; remove it or name another", path);
    }
  }
  fs::path parent = fs::path(destination).parent_path();
  parent = parent.empty() ? "." : parent;
  std::error_code error;
  const fs::space_info space = fs::space(parent, error);
  if (error) {
    fail(ErrorKind::kInvalidRequest, "{}: cannot write there: {}", parent.string(), error.message());
  }
  if (space.available < needed_bytes) {
    fail(ErrorKind::kInvalidRequest, "{}: expected {} bytes of free disk, found {}", parent.string(),
         needed_bytes, space.available);
  }
}

// Removes the directory unless told to keep it.
class PartialDirectory {
 public:
  explicit PartialDirectory(std::string path) : path_(std::move(path)) {
    std::error_code error;
    if (!fs::create_directory(path_, error)) {
      fail(ErrorKind::kInvalidRequest, "{}: cannot create the directory: {}", path_, error.message());
    }
  }
  ~PartialDirectory() {
    if (!path_.empty()) {
      std::error_code ignored;
      fs::remove_all(path_, ignored);
    }
  }
  PartialDirectory(const PartialDirectory&) = delete;
  PartialDirectory& operator=(const PartialDirectory&) = delete;

  void rename_to(const std::string& destination) {
    std::error_code error;
    fs::rename(path_, destination, error);
    if (error) {
      fail(ErrorKind::kInvalidRequest, "{}: cannot rename {} to it: {}", destination, path_, error.message());
    }
    path_.clear();
    sync_directory(fs::path(destination).parent_path().string());
  }

 private:
  std::string path_;
};

class Export {
 public:
  Export(Checkpoint& source, std::string directory, const ExportOptions& options)
      : source_(source), directory_(std::move(directory)), options_(options) {}

  ExportSummary write_weights(std::vector<std::vector<Unit>> shards) {
    summary_.n_files = static_cast<int>(shards.size());
    for (const std::vector<Unit>& shard : shards) {
      for (const Unit& unit : shard) {
        total_bytes_ += unit.size_bytes;
        summary_.n_tensors += static_cast<int>(unit.plans.size());
      }
    }
    json weight_map = json::object();
    for (size_t index = 0; index < shards.size(); ++index) {
      const std::string name =
          shards.size() == 1 ? std::string("model.safetensors")
                             : fmt::format("model-{:05d}-of-{:05d}.safetensors", index + 1, shards.size());
      write_shard(name, shards[index]);
      for (const Unit& unit : shards[index]) {
        for (const TensorPlan& plan : unit.plans) {
          weight_map[plan.name] = name;
        }
      }
    }
    summary_.tensor_bytes = total_bytes_;
    const json index = {{"metadata", {{"total_size", total_bytes_}}}, {"weight_map", weight_map}};
    write_file_atomically(directory_ + "/model.safetensors.index.json", index.dump(2) + "\n");
    return summary_;
  }

 private:
  void write_shard(const std::string& name, const std::vector<Unit>& units) {
    std::vector<TensorPlan> plans;
    for (const Unit& unit : units) {
      plans.insert(plans.end(), unit.plans.begin(), unit.plans.end());
    }
    SafetensorsWriter writer(directory_ + "/" + name, plans);
    for (const Unit& unit : units) {
      if (options_.cancel != nullptr && options_.cancel->load()) {
        fail(ErrorKind::kInvalidRequest, "quantising was cancelled; nothing was written");
      }
      if (const auto* matrix = std::get_if<MatrixSpec>(&unit.spec)) {
        append_matrix(writer, source_, *matrix, unit);
      } else {
        append_vector(writer, source_, std::get<VectorSpec>(unit.spec), unit);
      }
      done_bytes_ += unit.size_bytes;
      if (options_.progress) {
        options_.progress(done_bytes_, total_bytes_);
      }
    }
    writer.finish();
  }

  Checkpoint& source_;
  std::string directory_;
  const ExportOptions& options_;
  ExportSummary summary_;
  uint64_t done_bytes_ = 0;
  uint64_t total_bytes_ = 0;
};

std::string without_trailing_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) {
    path.pop_back();
  }
  return path;
}

}  // namespace

ExportSummary export_quantized(const std::string& source_directory, const std::string& destination_directory,
                               const ExportOptions& options) {
  const std::string destination = without_trailing_slash(destination_directory);
  Checkpoint source(source_directory, {.quantize_dense = true});
  // Refuses a damaged one before anything is written.
  static_cast<void>(read_generation_config(source_directory, source.config()));
  refuse_unfit_source(source, source_directory);
  refuse_unfit_destination(destination, source.total_bytes());
  const std::string partial_path = destination + ".partial";
  PartialDirectory partial(partial_path);
  Export weights(source, partial_path, options);
  const ExportSummary summary =
      weights.write_weights(split_into_shards(plan_units(source), options.max_shard_bytes));
  write_file_atomically(partial_path + "/config.json", exported_config(source_directory, source.shape()));
  for (const char* name : kCopiedFiles) {
    if (fs::exists(source_directory + "/" + name)) {
      std::error_code error;
      if (!fs::copy_file(source_directory + "/" + name, partial_path + "/" + name, error)) {
        fail(ErrorKind::kInvalidRequest, "{}: cannot copy {}: {}", partial_path, name, error.message());
      }
    }
  }
  source.files().check_unchanged();
  partial.rename_to(destination);
  return summary;
}

}  // namespace orfebre
