#include "checkpoint/checkpoint.h"

#include "base/error.h"
#include "checkpoint/affine.h"

#include <algorithm>
#include <utility>

namespace orfebre {
namespace {

constexpr uint64_t kPartAlignment = 64;
// Elements quantised at a time: small enough to stay in the second-level cache's reach.
constexpr int64_t kChunkElements = int64_t{1} << 20;
constexpr size_t kMaxListedNames = 8;

std::string join_names(const std::vector<std::string>& names) {
  std::string text;
  for (size_t index = 0; index < std::min(names.size(), kMaxListedNames); ++index) {
    text += (index == 0 ? "" : ", ") + names[index];
  }
  if (names.size() > kMaxListedNames) {
    text += fmt::format(" and {} more", names.size() - kMaxListedNames);
  }
  return text;
}

// [n_out, columns] for one matrix, [n_matrices, n_out, columns] for experts.
std::vector<int64_t> stored_shape(const MatrixSpec& spec, int64_t rows, int64_t columns) {
  if (spec.n_matrices == 1) {
    return {rows, columns};
  }
  return {spec.n_matrices, rows, columns};
}

uint64_t value_count(const AffineTensor& view) {
  return static_cast<uint64_t>(view.n_out) * static_cast<uint64_t>(view.n_in);
}

uint64_t group_count(const AffineTensor& view) {
  return value_count(view) / kAffineGroupSize;
}

// Where the three parts of quantised rows lie in one piece of memory.
struct Parts {
  uint32_t* codes;
  bf16* scales;
  bf16* biases;
};

// Makes `memory` long enough for the view's rows, and the view point into it.
Parts take_parts(AffineTensor& view, std::vector<std::byte>& memory) {
  const auto aligned = [](uint64_t bytes) {
    return (bytes + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
  };
  const uint64_t codes_bytes = aligned(value_count(view) * static_cast<uint64_t>(view.bits) / 8);
  const uint64_t groups_bytes = aligned(group_count(view) * sizeof(bf16));
  memory.resize(std::max<size_t>(memory.size(), codes_bytes + 2 * groups_bytes));
  std::byte* const groups = memory.data() + codes_bytes;
  const Parts parts{reinterpret_cast<uint32_t*>(memory.data()), reinterpret_cast<bf16*>(groups),
                    reinterpret_cast<bf16*>(groups + groups_bytes)};
  view.codes = parts.codes;
  view.scales = parts.scales;
  view.biases = parts.biases;
  return parts;
}

std::vector<float> to_f32_vector(const std::vector<std::byte>& bytes, TensorDtype dtype, size_t count) {
  std::vector<float> values(count);
  for (size_t index = 0; index < count; ++index) {
    if (dtype == TensorDtype::kF32) {
      values[index] = reinterpret_cast<const float*>(bytes.data())[index];
    } else if (dtype == TensorDtype::kBf16) {
      values[index] = to_f32(reinterpret_cast<const bf16*>(bytes.data())[index]);
    } else {
      values[index] = to_f32(reinterpret_cast<const f16*>(bytes.data())[index]);
    }
  }
  return values;
}

void check_tensor(const std::string& directory, const TensorInfo& tensor,
                  std::initializer_list<TensorDtype> dtypes, const std::vector<int64_t>& shape) {
  if (std::find(dtypes.begin(), dtypes.end(), tensor.dtype) == dtypes.end()) {
    std::vector<std::string> names;
    for (const TensorDtype dtype : dtypes) {
      names.emplace_back(dtype_name(dtype));
    }
    fail(ErrorKind::kBadCheckpoint, "{}: tensor \"{}\": expected dtype {}, found {}", directory, tensor.name,
         join_names(names), dtype_name(tensor.dtype));
  }
  if (tensor.shape != shape) {
    fail(ErrorKind::kBadCheckpoint, "{}: tensor \"{}\": expected shape {}, found {}", directory, tensor.name,
         shape_text(shape), shape_text(tensor.shape));
  }
}

}  // namespace

int default_bits(MatrixRole role) {
  return role == MatrixRole::kRouter || role == MatrixRole::kSharedGate ? 8 : 4;
}

Checkpoint::Checkpoint(const std::string& directory, const CheckpointOptions& options)
    : directory_(directory),
      options_(options),
      config_(read_model_config(directory)),
      files_(directory, options.page_cache),
      convention_(detect_convention(files_, config_.shape)),
      drop_pages_(files_.total_bytes() > options.drop_pages_above_bytes) {
  plan_weights();
  if (drop_pages_) {
    for (const InputFile& file : files_.files()) {
      file.advise_sequential();
    }
  }
}

void Checkpoint::plan_weights() {
  std::vector<std::string> missing;
  for (const MatrixSpec& spec : matrix_specs(config_.shape)) {
    plan_matrix(spec, missing);
  }
  for (const VectorSpec& spec : vector_specs(config_.shape)) {
    plan_vector(spec, missing);
  }
  if (!missing.empty()) {
    fail(ErrorKind::kBadCheckpoint, "{}: {} tensors are missing: {}; download the checkpoint again",
         directory_, missing.size(), join_names(missing));
  }
}

void Checkpoint::plan_matrix(const MatrixSpec& spec, std::vector<std::string>& missing) {
  const Naming& naming = convention_.naming;
  const std::string module = module_path(naming, spec.role, spec.layer);
  if (files_.find(module + ".bias") != nullptr) {
    fail(ErrorKind::kUnsupported, "{}: expected no \"{}.bias\": this model's matrices have none", directory_,
         module);
  }
  MatrixPlan plan;
  plan.file_rows = spec.n_out;
  const std::string values_name = dense_tensor_name(naming, spec.role, spec.layer);
  plan.values = files_.find(values_name);
  if (plan.values == nullptr) {
    missing.push_back(values_name);
    return;
  }
  const bool is_quantized =
      files_.find(module + ".scales") != nullptr || plan.values->dtype == TensorDtype::kU32;
  if (is_quantized) {
    plan_quantized(plan, spec, missing);
  } else {
    const bool is_gate_up = spec.role == MatrixRole::kExpertGate || spec.role == MatrixRole::kExpertUp;
    if (naming.fused_experts && is_gate_up) {
      plan.file_rows = 2 * spec.n_out;  // gate rows, then up rows
      plan.first_row = spec.role == MatrixRole::kExpertUp ? spec.n_out : 0;
    }
    check_tensor(directory_, *plan.values, {TensorDtype::kBf16, TensorDtype::kF32},
                 stored_shape(spec, plan.file_rows, spec.n_in));
    plan.bits = plan.values->dtype == TensorDtype::kBf16 ? 16 : 32;
  }
  matrices_[{spec.role, spec.layer}] = plan;
}

void Checkpoint::plan_quantized(MatrixPlan& plan, const MatrixSpec& spec,
                                std::vector<std::string>& missing) const {
  const std::string module = module_path(convention_.naming, spec.role, spec.layer);
  std::optional<QuantizationEntry> entry = config_.quantization.of(module);
  if (!entry) {
    fail(ErrorKind::kBadCheckpoint,
         "{}: \"{}\" is quantised, but config.json's \"quantization\" says nothing about it", directory_,
         module);
  }
  // Where only the config's default applies, the codes' own width counts: some converters leave a wrong
  // default.
  if (!config_.quantization.names(module) && plan.values->dtype == TensorDtype::kU32 &&
      !plan.values->shape.empty()) {
    for (const int bits : {4, 8}) {
      entry->bits = plan.values->shape.back() == int64_t{spec.n_in} * bits / 32 ? bits : entry->bits;
    }
  }
  if ((entry->bits != 4 && entry->bits != 8) || entry->group_size != kAffineGroupSize) {
    fail(ErrorKind::kUnsupported,
         "{}: \"{}\": expected 4 or 8 bits in groups of 64, found {} bits in groups of {}", directory_,
         module, entry->bits, entry->group_size);
  }
  plan.bits = entry->bits;
  check_tensor(directory_, *plan.values, {TensorDtype::kU32},
               stored_shape(spec, spec.n_out, int64_t{spec.n_in} * plan.bits / 32));
  const auto find_groups = [&](const char* suffix) {
    const TensorInfo* tensor = files_.find(module + suffix);
    if (tensor == nullptr) {
      missing.push_back(module + suffix);
    } else {
      check_tensor(directory_, *tensor, {TensorDtype::kBf16},
                   stored_shape(spec, spec.n_out, spec.n_in / kAffineGroupSize));
    }
    return tensor;
  };
  plan.scales = find_groups(".scales");
  plan.biases = find_groups(".biases");
}

void Checkpoint::plan_vector(const VectorSpec& spec, std::vector<std::string>& missing) {
  const std::string name = vector_tensor_name(convention_.naming, spec.role, spec.layer);
  const TensorInfo* tensor = files_.find(name);
  if (tensor == nullptr) {
    missing.push_back(name);
    return;
  }
  std::vector<int64_t> shape = {spec.size};
  if (spec.role == VectorRole::kGdnConv) {
    const int64_t channels = config_.shape.conv_channels();
    const int64_t taps = config_.shape.conv_taps;
    shape = convention_.converted ? std::vector<int64_t>{channels, taps, 1}
                                  : std::vector<int64_t>{channels, 1, taps};
  }
  check_tensor(directory_, *tensor, {TensorDtype::kBf16, TensorDtype::kF32, TensorDtype::kF16}, shape);
  vectors_[{spec.role, spec.layer}] = tensor;
}

const Checkpoint::MatrixPlan& Checkpoint::plan_of(const MatrixSpec& spec) const {
  const auto entry = matrices_.find({spec.role, spec.layer});
  ORFEBRE_CHECK(entry != matrices_.end());
  return entry->second;
}

const TensorInfo& Checkpoint::vector_tensor(const VectorSpec& spec) const {
  const auto entry = vectors_.find({spec.role, spec.layer});
  ORFEBRE_CHECK(entry != vectors_.end());
  return *entry->second;
}

int Checkpoint::matrix_bits(const MatrixSpec& spec) const {
  const int bits = stored_bits(spec);
  return options_.quantize_dense && bits >= 16 ? default_bits(spec.role) : bits;
}

uint64_t Checkpoint::total_bytes() const {
  uint64_t total = 0;
  for (const MatrixSpec& spec : matrix_specs(config_.shape)) {
    total += stored_bytes(spec, matrix_bits(spec));
  }
  return total;
}

AffineTensor Checkpoint::read_rows(std::vector<std::byte>& memory, const MatrixSpec& spec, int first_row,
                                   int n_rows) {
  ORFEBRE_CHECK(first_row >= 0 && n_rows > 0 && n_rows <= row_count(spec) - first_row);
  const Rows rows{plan_of(spec), spec, first_row, n_rows};
  AffineTensor view;
  view.n_out = n_rows;
  view.n_in = spec.n_in;
  view.bits = matrix_bits(spec);
  if (rows.plan.bits < 16) {
    read_quantized(view, memory, rows);
  } else if (view.bits < 16) {
    read_and_quantize(view, memory, rows);
  } else {
    read_dense(view, memory, rows);
  }
  int checked_file = -1;
  for_tensors(rows, [&](const TensorInfo& tensor, const ByteRange&) {
    if (std::exchange(checked_file, tensor.file_index) != tensor.file_index) {
      files_.check_unchanged(tensor);
    }
  });
  return view;
}

Checkpoint::ByteRange Checkpoint::bytes_of(const TensorInfo& tensor, const Rows& rows) {
  const auto file_rows = static_cast<uint64_t>(rows.plan.file_rows);
  const auto n_out = static_cast<uint64_t>(rows.spec.n_out);
  const uint64_t row_bytes = tensor.size_bytes / (static_cast<uint64_t>(rows.spec.n_matrices) * file_rows);
  auto first = static_cast<uint64_t>(rows.first);
  auto end = static_cast<uint64_t>(rows.first + rows.count);
  if (file_rows != n_out) {
    first = first / n_out * file_rows;
    end = (end + n_out - 1) / n_out * file_rows;
  }
  return {first * row_bytes, (end - first) * row_bytes};
}

template <class Action>
void Checkpoint::for_tensors(const Rows& rows, const Action& action) {
  for (const TensorInfo* tensor : {rows.plan.values, rows.plan.scales, rows.plan.biases}) {
    if (tensor != nullptr) {
      action(*tensor, bytes_of(*tensor, rows));
    }
  }
}

void Checkpoint::read_quantized(AffineTensor& view, std::vector<std::byte>& memory, const Rows& rows) const {
  const Parts parts = take_parts(view, memory);
  void* const places[] = {parts.codes, parts.scales, parts.biases};
  size_t place = 0;
  for_tensors(rows, [&](const TensorInfo& tensor, const ByteRange& range) {
    files_.read(places[place++], tensor, range.offset_bytes, range.n_bytes);
  });
  for (const auto& [values, tensor] :
       {std::pair(view.scales, rows.plan.scales), std::pair(view.biases, rows.plan.biases)}) {
    if (!all_finite(values, group_count(view))) {
      fail(ErrorKind::kBadCheckpoint, "{}: tensor \"{}\": expected finite numbers, found NaN or infinity",
           directory_, tensor->name);
    }
  }
}

// Fused experts hold gate and up rows of an expert one after the other, so rows are read expert by expert.
void Checkpoint::read_dense_rows(void* destination, const Rows& rows) const {
  const MatrixPlan& plan = rows.plan;
  const uint64_t row_bytes = static_cast<uint64_t>(rows.spec.n_in) * static_cast<uint64_t>(plan.bits) / 8;
  const int end = rows.first + rows.count;
  auto* to = static_cast<std::byte*>(destination);
  for (int row = rows.first; row < end;) {
    const int matrix = row / rows.spec.n_out;
    const int within = row % rows.spec.n_out;
    const int n_rows = std::min(end - row, rows.spec.n_out - within);
    const uint64_t file_row = static_cast<uint64_t>(matrix) * static_cast<uint64_t>(plan.file_rows) +
                              static_cast<uint64_t>(plan.first_row + within);
    const uint64_t n_bytes = static_cast<uint64_t>(n_rows) * row_bytes;
    files_.read(to, *plan.values, file_row * row_bytes, n_bytes);
    to += n_bytes;
    row += n_rows;
  }
  const size_t count = static_cast<size_t>(rows.count) * static_cast<size_t>(rows.spec.n_in);
  const bool finite = plan.bits == 16 ? all_finite(static_cast<const bf16*>(destination), count)
                                      : all_finite(static_cast<const float*>(destination), count);
  if (!finite) {
    fail(ErrorKind::kBadCheckpoint, "{}: tensor \"{}\": expected finite numbers, found NaN or infinity",
         directory_, plan.values->name);
  }
}

void Checkpoint::read_dense(AffineTensor& view, std::vector<std::byte>& memory, const Rows& rows) const {
  memory.resize(std::max<size_t>(memory.size(), value_count(view) * static_cast<size_t>(view.bits) / 8));
  read_dense_rows(memory.data(), rows);
  if (view.bits == 16) {
    view.dense_bf16 = reinterpret_cast<const bf16*>(memory.data());
  } else {
    view.dense_f32 = reinterpret_cast<const float*>(memory.data());
  }
}

void Checkpoint::read_and_quantize(AffineTensor& view, std::vector<std::byte>& memory,
                                   const Rows& rows) const {
  const Parts parts = take_parts(view, memory);
  const uint64_t group_words = static_cast<uint64_t>(affine_group_words(view.bits));
  const int chunk_rows =
      static_cast<int>(std::clamp<int64_t>(kChunkElements / rows.spec.n_in, 1, rows.count));
  const size_t chunk_elements = static_cast<size_t>(chunk_rows) * static_cast<size_t>(rows.spec.n_in);
  std::vector<float> wide(rows.plan.bits == 32 ? chunk_elements : 0);
  std::vector<bf16> narrow(chunk_elements);
  uint64_t group = 0;
  for (int row = 0; row < rows.count; row += chunk_rows) {
    const int n_rows = std::min(chunk_rows, rows.count - row);
    const Rows chunk{rows.plan, rows.spec, rows.first + row, n_rows};
    const size_t count = static_cast<size_t>(n_rows) * static_cast<size_t>(rows.spec.n_in);
    if (rows.plan.bits == 32) {
      read_dense_rows(wide.data(), chunk);
      std::transform(wide.begin(), wide.begin() + static_cast<ptrdiff_t>(count), narrow.begin(),
                     [](float value) { return to_bf16(value); });
    } else {
      read_dense_rows(narrow.data(), chunk);
    }
    quantize_affine(parts.codes + group * group_words, parts.scales + group, parts.biases + group,
                    narrow.data(), count / kAffineGroupSize, view.bits);
    group += count / kAffineGroupSize;
  }
  if (!all_finite(view.scales, group) || !all_finite(view.biases, group)) {
    fail(ErrorKind::kBadCheckpoint, "{}: tensor \"{}\": its values are too large to quantise", directory_,
         rows.plan.values->name);
  }
}

void Checkpoint::release_rows(const MatrixSpec& spec, int first_row, int n_rows) {
  if (!drop_pages_) {
    return;
  }
  for_tensors({plan_of(spec), spec, first_row, n_rows},
              [&](const TensorInfo& tensor, const ByteRange& range) {
                files_.drop_cached_pages(tensor, range.offset_bytes, range.n_bytes);
              });
  // The kernel keeps large pages that reach over a range's end: once all is read they can go, too.
  if (n_rows == row_count(spec) && ++n_released_ == matrices_.size()) {
    for (const InputFile& file : files_.files()) {
      file.drop_cached_pages(0, file.size_bytes());
    }
  }
}

std::vector<float> Checkpoint::read_vector(const VectorSpec& spec) {
  const TensorInfo& tensor = vector_tensor(spec);
  std::vector<std::byte> bytes(tensor.size_bytes);
  files_.read(bytes.data(), tensor, 0, bytes.size());
  files_.check_unchanged(tensor);
  // [channels, 4, 1] and [channels, 1, 4] lie in memory alike, so the convolution needs no turning.
  std::vector<float> values = to_f32_vector(bytes, tensor.dtype, static_cast<size_t>(spec.size));
  if (!all_finite(values.data(), values.size())) {
    fail(ErrorKind::kBadCheckpoint, "{}: tensor \"{}\": expected finite numbers, found NaN or infinity",
         directory_, tensor.name);
  }
  if (!convention_.converted && is_zero_centred(spec.role)) {
    for (float& value : values) {
      value += 1.0f;
    }
  }
  return values;
}

}  // namespace orfebre
