// Checkpoints of both conventions read into the convention of spec/weights.h, and what is refused.
#include "checkpoint/checkpoint.h"

#include "checkpoint/affine.h"
#include "checkpoint/synthetic_checkpoint.h"
#include "checkpoint/test_files.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

namespace orfebre {
namespace {

constexpr ErrorKind kBad = ErrorKind::kBadCheckpoint;
constexpr ShapeInfo kDemo = describe<Demo>();
const std::string kHfLayer0 = "model.language_model.layers.0.";
const std::string kMlxLayer0 = "language_model.model.layers.0.";

// What a Hugging Face matrix element must be, straight from the naming of such files.
std::string hf_name(const MatrixSpec& spec) {
  const std::string layer = "model.language_model.layers." + std::to_string(spec.layer) + ".";
  switch (spec.role) {
    case MatrixRole::kEmbedding: return "model.language_model.embed_tokens.weight";
    case MatrixRole::kHead: return "lm_head.weight";
    case MatrixRole::kGdnQkv: return layer + "linear_attn.in_proj_qkv.weight";
    case MatrixRole::kGdnZ: return layer + "linear_attn.in_proj_z.weight";
    case MatrixRole::kGdnA: return layer + "linear_attn.in_proj_a.weight";
    case MatrixRole::kGdnB: return layer + "linear_attn.in_proj_b.weight";
    case MatrixRole::kGdnOut: return layer + "linear_attn.out_proj.weight";
    case MatrixRole::kAttnQ: return layer + "self_attn.q_proj.weight";
    case MatrixRole::kAttnK: return layer + "self_attn.k_proj.weight";
    case MatrixRole::kAttnV: return layer + "self_attn.v_proj.weight";
    case MatrixRole::kAttnOut: return layer + "self_attn.o_proj.weight";
    case MatrixRole::kRouter: return layer + "mlp.gate.weight";
    case MatrixRole::kSharedGate: return layer + "mlp.shared_expert_gate.weight";
    case MatrixRole::kSharedUpGate: return layer + "mlp.shared_expert.gate_proj.weight";
    case MatrixRole::kSharedUp: return layer + "mlp.shared_expert.up_proj.weight";
    case MatrixRole::kSharedDown: return layer + "mlp.shared_expert.down_proj.weight";
    case MatrixRole::kExpertGate:
    case MatrixRole::kExpertUp: return layer + "mlp.experts.gate_up_proj";
    case MatrixRole::kExpertDown: return layer + "mlp.experts.down_proj";
  }
  return "";
}

// Where element `index` of the matrix, as our convention orders it, lies in the Hugging Face tensor.
uint64_t hf_index(const MatrixSpec& spec, uint64_t index) {
  const auto matrix_elements = static_cast<uint64_t>(spec.n_out) * static_cast<uint64_t>(spec.n_in);
  if (spec.role == MatrixRole::kExpertGate || spec.role == MatrixRole::kExpertUp) {
    const uint64_t expert = index / matrix_elements;
    index += (expert + (spec.role == MatrixRole::kExpertUp ? 1 : 0)) * matrix_elements;
  }
  return index;
}

std::string hf_name(const VectorSpec& spec) {
  const std::string layer = "model.language_model.layers." + std::to_string(spec.layer) + ".";
  switch (spec.role) {
    case VectorRole::kFinalNorm: return "model.language_model.norm.weight";
    case VectorRole::kInputNorm: return layer + "input_layernorm.weight";
    case VectorRole::kPostNorm: return layer + "post_attention_layernorm.weight";
    case VectorRole::kGdnConv: return layer + "linear_attn.conv1d.weight";
    case VectorRole::kGdnALog: return layer + "linear_attn.A_log";
    case VectorRole::kGdnDtBias: return layer + "linear_attn.dt_bias";
    case VectorRole::kGdnNorm: return layer + "linear_attn.norm.weight";
    case VectorRole::kAttnQNorm: return layer + "self_attn.q_norm.weight";
    case VectorRole::kAttnKNorm: return layer + "self_attn.k_norm.weight";
  }
  return "";
}

bool stored_wide(VectorRole role) {
  return role == VectorRole::kGdnALog || role == VectorRole::kGdnNorm;
}

bool plus_one(VectorRole role) {
  return role == VectorRole::kFinalNorm || role == VectorRole::kInputNorm || role == VectorRole::kPostNorm ||
         role == VectorRole::kAttnQNorm || role == VectorRole::kAttnKNorm;
}

uint64_t elements(const MatrixSpec& spec) {
  return static_cast<uint64_t>(spec.n_matrices) * static_cast<uint64_t>(spec.n_out) *
         static_cast<uint64_t>(spec.n_in);
}

TEST(HuggingFaceCheckpoint, EveryDenseMatrixElementComesFromItsPlace) {
  for (const bool wide : {false, true}) {
    Checkpoint checkpoint(shared_hugging_face_directory(wide));
    EXPECT_EQ(checkpoint.shape().id, ShapeId::kDemo);
    EXPECT_FALSE(checkpoint.convention().converted);
    uint64_t handed_bytes = 0;
    for (const MatrixSpec& spec : matrix_specs(kDemo)) {
      const StoredMatrix stored_tensor = read_matrix(checkpoint, spec);
      const AffineTensor& tensor = stored_tensor.view;
      ASSERT_EQ(tensor.bits, wide ? 32 : 16);
      ASSERT_EQ(checkpoint.matrix_bits(spec), tensor.bits);
      ASSERT_EQ(tensor.n_matrices, spec.n_matrices);
      const SyntheticValues values(hf_name(spec));
      uint64_t wrong = 0;
      for (uint64_t index = 0; index < elements(spec); ++index) {
        const float found = wide ? tensor.dense_f32[index] : to_f32(tensor.dense_bf16[index]);
        const float expected = values[hf_index(spec, index)];
        wrong += found != (wide ? expected : to_f32(to_bf16(expected))) ? 1 : 0;
      }
      EXPECT_EQ(wrong, 0u) << weight_name(spec.role, spec.layer);
      handed_bytes += elements(spec) * static_cast<uint64_t>(tensor.bits) / 8;
    }
    EXPECT_EQ(checkpoint.total_bytes(), handed_bytes);
  }
}

TEST(HuggingFaceCheckpoint, VectorsComeOutInOurConvention) {
  Checkpoint checkpoint(shared_hugging_face_directory(false));
  for (const VectorSpec& spec : vector_specs(kDemo)) {
    const std::vector<float> values = checkpoint.read_vector(spec);
    const SyntheticValues stored_values(hf_name(spec));
    ASSERT_EQ(values.size(), static_cast<size_t>(spec.size));
    for (size_t index = 0; index < values.size(); ++index) {
      const float stored = stored_values[index];
      const float rounded = stored_wide(spec.role) ? stored : to_f32(to_bf16(stored));
      EXPECT_EQ(values[index], plus_one(spec.role) ? 1.0f + rounded : rounded)
          << hf_name(spec) << " " << index;
    }
  }
}

TEST(HuggingFaceCheckpoint, QuantisesWhileReading) {
  Checkpoint dense(shared_hugging_face_directory(false));
  Checkpoint quantized(shared_hugging_face_directory(false), {.quantize_dense = true});
  uint64_t handed_bytes = 0;
  for (const MatrixSpec& spec : matrix_specs(kDemo)) {
    const bool is_gate = spec.role == MatrixRole::kRouter || spec.role == MatrixRole::kSharedGate;
    const StoredMatrix stored_values = read_matrix(dense, spec);
    const AffineTensor& values = stored_values.view;
    const StoredMatrix stored_tensor = read_matrix(quantized, spec);
    const AffineTensor& tensor = stored_tensor.view;
    ASSERT_EQ(tensor.bits, is_gate ? 8 : 4);
    ASSERT_EQ(quantized.matrix_bits(spec), tensor.bits);
    const size_t n_groups = elements(spec) / 64;
    const size_t words = n_groups * static_cast<size_t>(affine_group_words(tensor.bits));
    std::vector<uint32_t> codes(words);
    std::vector<bf16> scales(n_groups);
    std::vector<bf16> biases(n_groups);
    quantize_affine(codes.data(), scales.data(), biases.data(), values.dense_bf16, n_groups, tensor.bits);
    EXPECT_EQ(std::memcmp(codes.data(), tensor.codes, words * 4), 0) << weight_name(spec.role, spec.layer);
    EXPECT_EQ(std::memcmp(scales.data(), tensor.scales, n_groups * 2), 0);
    EXPECT_EQ(std::memcmp(biases.data(), tensor.biases, n_groups * 2), 0);
    handed_bytes += words * 4 + n_groups * 4;
  }
  EXPECT_EQ(quantized.total_bytes(), handed_bytes);
}

TEST(HuggingFaceCheckpoint, LoaderThreadsReadAtOnce) {
  Checkpoint checkpoint(shared_hugging_face_directory(false), {.quantize_dense = true});
  Checkpoint serial(shared_hugging_face_directory(false), {.quantize_dense = true});
  const std::vector<MatrixSpec> specs = matrix_specs(kDemo);
  std::vector<uint32_t> expected(specs.size());
  std::vector<uint32_t> found(specs.size());
  const auto checksum = [](Checkpoint& source, const MatrixSpec& spec) {
    const StoredMatrix stored_tensor = read_matrix(source, spec);
    const AffineTensor& tensor = stored_tensor.view;
    const size_t n_bytes = elements(spec) * static_cast<size_t>(tensor.bits) / 8;
    const uint32_t sum = crc32(std::string(reinterpret_cast<const char*>(tensor.codes), n_bytes));
    return sum;
  };
  std::vector<std::thread> threads;
  std::atomic<size_t> next{0};
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (size_t index = next++; index < specs.size(); index = next++) {
        found[index] = checksum(checkpoint, specs[index]);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (size_t index = 0; index < specs.size(); ++index) {
    expected[index] = checksum(serial, specs[index]);
  }
  EXPECT_EQ(found, expected);
}

// Checkpoints of which only the header matters: the data is a hole of zeros.
class HeaderTest : public testing::Test {
 protected:
  void SetUp() override {
    copy_config(directory_.path(), "demo_config_mlx.json");
    tensors_ = mlx_tensor_headers(kDemo);
  }
  void open() {
    write_tensors(directory_.path(), tensors_);
    Checkpoint checkpoint(directory_.path());
  }
  void refuses(ErrorKind kind, const std::vector<std::string>& parts) {
    expect_error(kind, parts, [&] { open(); });
  }
  void rename_prefix(const std::string& from, const std::string& to) {
    TestTensors renamed;
    for (auto& [name, tensor] : tensors_) {
      renamed[name.starts_with(from) ? to + name.substr(from.size()) : name] = tensor;
    }
    tensors_ = renamed;
  }

  TempDirectory directory_;
  TestTensors tensors_;
};

TEST_F(HeaderTest, AcceptsTheConvertersSpellingsOfPrefixes) {
  EXPECT_NO_THROW(open());
  rename_prefix("language_model.lm_head.", "lm_head.");
  EXPECT_NO_THROW(open());
  rename_prefix("language_model.model.", "model.");
  EXPECT_NO_THROW(open());
  rename_prefix("model.", "model.language_model.");
  EXPECT_NO_THROW(open());
}

TEST_F(HeaderTest, IgnoresVisionTowerAndMtp) {
  tensors_["vision_tower.patch_embed.proj.weight"] = {TensorDtype::kBf16, {8, 2, 16, 16, 3}, ""};
  tensors_["language_model.mtp.norm.weight"] = {TensorDtype::kF16, {3}, ""};
  tensors_["mtp.fc.weight"] = {TensorDtype::kI64, {3}, ""};
  EXPECT_NO_THROW(open());
}

TEST_F(HeaderTest, MissingTensorsAreListed) {
  tensors_.erase(kMlxLayer0 + "mlp.gate.scales");
  tensors_.erase(kMlxLayer0 + "linear_attn.A_log");
  tensors_.erase("language_model.lm_head.weight");
  refuses(kBad, {"3 tensors are missing", "layers.0.mlp.gate.scales", "layers.0.linear_attn.A_log",
                 "lm_head.weight"});
}

TEST_F(HeaderTest, ManyMissingTensorsAreCounted) {
  for (int layer = 0; layer < 8; ++layer) {
    for (const char* suffix : {".scales", ".biases"}) {
      tensors_.erase("language_model.model.layers." + std::to_string(layer) + ".mlp.switch_mlp.up_proj" +
                     suffix);
    }
  }
  refuses(kBad, {"16 tensors are missing", "and 8 more"});
}

TEST_F(HeaderTest, EveryTensorIsNeeded) {
  const TestTensors whole = tensors_;
  for (const auto& entry : whole) {
    if (entry.first.find(".layers.") != std::string::npos &&
        entry.first.find(".layers.0.") == std::string::npos &&
        entry.first.find(".layers.3.") == std::string::npos) {
      continue;  // the other layers are like these two
    }
    tensors_ = whole;
    tensors_.erase(entry.first);
    SCOPED_TRACE(entry.first);
    refuses(kBad, {});
  }
}

TEST_F(HeaderTest, WrongShapesAndDtypes) {
  const TestTensors whole = tensors_;
  tensors_[kMlxLayer0 + "mlp.switch_mlp.up_proj.weight"].shape = {16, 32, 128};
  refuses(kBad, {"switch_mlp.up_proj.weight", "expected shape [16, 128, 32]", "found [16, 32, 128]"});
  tensors_ = whole;
  tensors_[kMlxLayer0 + "mlp.gate.scales"].dtype = TensorDtype::kF32;
  refuses(kBad, {"mlp.gate.scales", "expected dtype BF16", "found F32"});
  tensors_ = whole;
  tensors_["language_model.model.norm.weight"].shape = {255};
  refuses(kBad, {"model.norm.weight", "expected shape [256]", "found [255]"});
  tensors_ = whole;
  tensors_[kMlxLayer0 + "linear_attn.A_log"].dtype = TensorDtype::kI32;
  refuses(kBad, {"A_log", "I32"});
  tensors_ = whole;
  tensors_[kMlxLayer0 + "linear_attn.conv1d.weight"].shape = {1024, 4};
  refuses(kBad, {"conv1d.weight", "[1024, 4, 1]", "[1024, 1, 4]", "found [1024, 4]"});
  tensors_ = whole;  // one layer of the other convention
  tensors_["language_model.model.layers.1.linear_attn.conv1d.weight"].shape = {1024, 1, 4};
  refuses(kBad, {"layers.1.linear_attn.conv1d.weight", "expected shape [1024, 4, 1]"});
}

TEST_F(HeaderTest, BitsOfTheConfigMustMatchTheCodes) {
  TestTensor& router = tensors_[kMlxLayer0 + "mlp.gate.weight"];
  router.shape = {16, 32};  // 4 bits of it, while config.json says 8
  refuses(kBad, {"mlp.gate.weight", "expected shape [16, 64]", "found [16, 32]"});
}

TEST_F(HeaderTest, WhereOnlyTheDefaultAppliesTheCodesDecide) {
  tensors_[kMlxLayer0 + "linear_attn.in_proj_z.weight"].shape = {512, 64};  // 8 bits, the default says 4
  write_tensors(directory_.path(), tensors_);
  Checkpoint checkpoint(directory_.path());
  EXPECT_EQ(checkpoint.matrix_bits({MatrixRole::kGdnZ, 0, 1, 512, 256}), 8);
  tensors_[kMlxLayer0 + "linear_attn.in_proj_z.weight"].shape = {512, 48};  // 6 bits
  refuses(kBad, {"in_proj_z.weight", "expected shape [512, 32]", "found [512, 48]"});
}

TEST_F(HeaderTest, QuantisedWithoutAWordInTheConfig) {
  copy_config(directory_.path(), "demo_config.json");
  refuses(kBad, {"is quantised", "quantization"});
}

TEST_F(HeaderTest, BiasVectorsAreRefused) {
  tensors_["language_model.model.layers.3.self_attn.q_proj.bias"] = {TensorDtype::kBf16, {8192}, ""};
  refuses(ErrorKind::kUnsupported, {"self_attn.q_proj.bias"});
}

TEST_F(HeaderTest, NoTextModelInside) {
  tensors_ = {{"vision_tower.x", {TensorDtype::kBf16, {2}, ""}}};
  refuses(kBad, {"embed_tokens.weight"});
}

TEST_F(HeaderTest, OtherWidthsByPath) {
  // An 8-bit default with 4 bits for the experts alone, as re-quantised uploads have.
  const std::string text = directory_.read("config.json");
  std::string exceptions;
  for (int layer = 0; layer < 8; ++layer) {
    for (const char* name : {"gate", "up", "down"}) {
      exceptions += fmt::format(
          ",\"language_model.model.layers.{}.mlp.switch_mlp.{}_proj\":{{\"bits\":4,\"group_size\":64}}",
          layer, name);
    }
  }
  const size_t from = text.find("\"quantization\"");
  ASSERT_NE(from, std::string::npos);
  directory_.write("config.json", text.substr(0, from) +
                                      "\"quantization\":{\"bits\":8,\"group_size\":64,\"mode\":\"affine\"" +
                                      exceptions + "}," + text.substr(text.find("\"quantization_config\"")));
  for (auto& [name, tensor] : tensors_) {
    const bool is_code = tensor.dtype == TensorDtype::kU32 && name.find("switch_mlp") == std::string::npos;
    if (is_code && !name.ends_with("gate.weight")) {
      tensor.shape.back() *= 2;
    }
  }
  write_tensors(directory_.path(), tensors_);
  Checkpoint checkpoint(directory_.path());
  for (const MatrixSpec& spec : matrix_specs(kDemo)) {
    EXPECT_EQ(checkpoint.matrix_bits(spec), spec.n_matrices > 1 ? 4 : 8)
        << weight_name(spec.role, spec.layer);
  }
}

TEST_F(HeaderTest, UnquantisedModulesInAQuantisedCheckpoint) {
  for (const char* suffix : {"scales", "biases"}) {
    tensors_.erase(kMlxLayer0 + "linear_attn.in_proj_a." + suffix);
  }
  tensors_[kMlxLayer0 + "linear_attn.in_proj_a.weight"] = {TensorDtype::kBf16, {4, 256}, ""};
  write_tensors(directory_.path(), tensors_);
  Checkpoint checkpoint(directory_.path());
  EXPECT_EQ(checkpoint.matrix_bits({MatrixRole::kGdnA, 0, 1, 4, 256}), 16);
  Checkpoint quantizing(directory_.path(), {.quantize_dense = true});
  EXPECT_EQ(quantizing.matrix_bits({MatrixRole::kGdnA, 0, 1, 4, 256}), 4);
}

// One number of one tensor is bad: everything else still reads, that one names itself.
TEST_F(HeaderTest, NonFiniteNumbersNameTheirTensor) {
  const auto zeros_with = [&](const std::string& name, uint16_t bits) {
    TestTensors changed = tensors_;
    TestTensor& tensor = changed.at(name);
    tensor.bytes.assign(plan_bytes({name, tensor.dtype, tensor.shape}), '\0');
    std::memcpy(tensor.bytes.data() + tensor.bytes.size() - 2, &bits, 2);
    write_tensors(directory_.path(), changed);
  };
  const MatrixSpec router{MatrixRole::kRouter, 0, 1, 16, 256};
  for (const char* suffix : {"scales", "biases"}) {
    zeros_with(kMlxLayer0 + "mlp.gate." + suffix, 0x7fc0);
    Checkpoint checkpoint(directory_.path());
    EXPECT_NO_THROW(read_matrix(checkpoint, {MatrixRole::kRouter, 1, 1, 16, 256}));
    expect_error(kBad, {kMlxLayer0 + "mlp.gate." + suffix, "NaN or infinity"},
                 [&] { read_matrix(checkpoint, router); });
  }
  zeros_with("language_model.model.norm.weight", 0xff80);
  Checkpoint checkpoint(directory_.path());
  expect_error(kBad, {"language_model.model.norm.weight", "NaN or infinity"}, [&] {
    checkpoint.read_vector({VectorRole::kFinalNorm, -1, 256});
  });
}

TEST_F(HeaderTest, VectorsOfEveryFloatTypeWidenExactly) {
  const std::string name = "language_model.model.norm.weight";
  const std::vector<float> numbers = {1.0f, -0.5f, 1.5f, 0.0f};  // exact in all three
  for (const TensorDtype dtype : {TensorDtype::kBf16, TensorDtype::kF16, TensorDtype::kF32}) {
    SCOPED_TRACE(dtype_name(dtype));
    TestTensor& tensor = tensors_.at(name);
    tensor.dtype = dtype;
    tensor.bytes.clear();
    for (int index = 0; index < 256; ++index) {
      const float number = numbers[static_cast<size_t>(index) % 4];
      const bf16 brain = to_bf16(number);
      const f16 half = to_f16(number);
      const void* source = dtype == TensorDtype::kBf16  ? static_cast<const void*>(&brain)
                           : dtype == TensorDtype::kF16 ? static_cast<const void*>(&half)
                                                        : static_cast<const void*>(&number);
      tensor.bytes.append(static_cast<const char*>(source), dtype_bytes(dtype));
    }
    write_tensors(directory_.path(), tensors_);
    Checkpoint checkpoint(directory_.path());
    const std::vector<float> values = checkpoint.read_vector({VectorRole::kFinalNorm, -1, 256});
    for (size_t index = 0; index < values.size(); ++index) {
      EXPECT_EQ(values[index], numbers[index % 4]) << index;
    }
  }
}

TEST_F(HeaderTest, FileTruncatedOrReplacedWhileLoading) {
  const MatrixSpec head{MatrixRole::kHead, -1, 1, 4096, 256};
  const MatrixSpec embedding{MatrixRole::kEmbedding, -1, 1, 4096, 256};
  const std::string path = directory_.file("model.safetensors");
  write_tensors(directory_.path(), tensors_);
  {
    Checkpoint checkpoint(directory_.path());
    EXPECT_NO_THROW(read_matrix(checkpoint, head));
    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 100);
    expect_error(kBad, {"truncated while"}, [&] { read_matrix(checkpoint, embedding); });
  }
  write_tensors(directory_.path(), tensors_);
  Checkpoint checkpoint(directory_.path());
  std::filesystem::copy_file(path, path + ".new");
  std::filesystem::rename(path + ".new", path);
  expect_error(kBad, {"replaced"}, [&] { read_matrix(checkpoint, embedding); });
  expect_error(kBad, {"replaced"}, [&] { checkpoint.read_vector({VectorRole::kFinalNorm, -1, 256}); });
}

// The real model's header over a file of holes: names, shapes and totals as published for the MLX upload.
TEST(FullSize, HeaderOfTheRealModelIsAcceptedAndItsBytesAddUp) {
  TempDirectory directory;
  copy_config(directory.path(), "qwen36_config_mlx.json");
  const TestTensors tensors = mlx_tensor_headers(describe<Qwen36>());
  EXPECT_EQ(tensors.size(), 1757u);
  write_tensors(directory.path(), tensors);
  Checkpoint checkpoint(directory.path());
  EXPECT_EQ(checkpoint.shape().id, ShapeId::kQwen36);
  EXPECT_TRUE(checkpoint.convention().converted);
  EXPECT_EQ(checkpoint.files().total_bytes(), 19508787456u);
  uint64_t vector_bytes = 0;
  for (const VectorSpec& spec : vector_specs(checkpoint.shape())) {
    vector_bytes += checkpoint.vector_tensor(spec).size_bytes;
  }
  EXPECT_EQ(checkpoint.total_bytes() + vector_bytes, 19508787456u);
  const StoredMatrix stored_gate = read_matrix(checkpoint, {MatrixRole::kExpertGate, 39, 256, 512, 2048});
  const AffineTensor& gate = stored_gate.view;
  EXPECT_EQ(gate.bits, 4);
  EXPECT_EQ(gate.codes[size_t{256} * 512 * 256 - 1], 0u);
}

}  // namespace
}  // namespace orfebre
