#include "checkpoint/synthetic_checkpoint.h"

#include "base/dtype.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/test_files.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

namespace orfebre {
namespace {

bool ends_with_any(const std::string& name, std::initializer_list<const char*> endings) {
  for (const char* ending : endings) {
    if (name.ends_with(ending)) {
      return true;
    }
  }
  return false;
}

uint64_t mix(uint64_t x) {  // splitmix64's finaliser
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Lives until the last test is over.
class SharedCheckpoints : public testing::Environment {
 public:
  void SetUp() override {
    for (const bool all_f32 : {false, true}) {
      directories_[all_f32] = std::make_unique<TempDirectory>();
      copy_config(directories_[all_f32]->path(), "demo_config.json");
      write_tensors(directories_[all_f32]->path(), hugging_face_tensors(describe<Demo>(), all_f32));
    }
  }
  void TearDown() override { directories_ = {}; }
  const std::string& directory(bool all_f32) const { return directories_[all_f32]->path(); }

 private:
  std::array<std::unique_ptr<TempDirectory>, 2> directories_;
};

auto* const g_shared = new SharedCheckpoints;
const auto* const g_environment = testing::AddGlobalTestEnvironment(g_shared);

void fill(TestTensor& tensor, const std::string& name) {
  uint64_t count = 1;
  for (const int64_t dimension : tensor.shape) {
    count *= static_cast<uint64_t>(dimension);
  }
  const SyntheticValues values(name);
  tensor.bytes.resize(count * dtype_bytes(tensor.dtype));
  for (uint64_t index = 0; index < count; ++index) {
    const float value = values[index];
    if (tensor.dtype == TensorDtype::kF32) {
      std::memcpy(&tensor.bytes[index * 4], &value, 4);
    } else {
      const bf16 rounded = to_bf16(value);
      std::memcpy(&tensor.bytes[index * 2], &rounded, 2);
    }
  }
}

}  // namespace

uint32_t crc32(const std::string& bytes) {
  static const auto table = [] {
    std::array<uint32_t, 256> entries{};
    for (uint32_t index = 0; index < 256; ++index) {
      uint32_t value = index;
      for (int bit = 0; bit < 8; ++bit) {
        value = (value >> 1) ^ ((value & 1u) != 0 ? 0xedb88320u : 0u);
      }
      entries[index] = value;
    }
    return entries;
  }();
  uint32_t crc = 0xffffffffu;
  for (const char byte : bytes) {
    crc = table[(crc ^ static_cast<uint8_t>(byte)) & 0xffu] ^ (crc >> 8);
  }
  return ~crc;
}

SyntheticValues::SyntheticValues(const std::string& name)
    : seed_(mix(crc32(name))), factor_(0.25f), centre_(0.0f) {
  if (name.ends_with("norm.weight")) {
    factor_ = 1.0f;
    centre_ = name.ends_with("linear_attn.norm.weight") ? 1.0f : 0.0f;
  } else if (name.ends_with("A_log")) {
    factor_ = 6.0f;
    centre_ = -1.0f;
  }
}

float SyntheticValues::operator[](uint64_t index) const {
  const uint64_t bits = mix(seed_ + index) >> 40;
  return (static_cast<float>(bits) * 0x1p-24f - 0.5f) * factor_ + centre_;
}

TestTensors hugging_face_tensors(const ShapeInfo& s, bool all_f32, bool filled) {
  TestTensors tensors;
  const auto add = [&](const std::string& name, std::vector<int64_t> shape) {
    const bool wide = all_f32 || ends_with_any(name, {"A_log", "linear_attn.norm.weight"});
    TestTensor& tensor = tensors[name];
    tensor = {wide ? TensorDtype::kF32 : TensorDtype::kBf16, std::move(shape), ""};
    if (filled) {
      fill(tensor, name);
    }
  };
  const int64_t hidden = s.hidden;
  add("model.language_model.embed_tokens.weight", {s.vocab, hidden});
  add("lm_head.weight", {s.vocab, hidden});
  add("model.language_model.norm.weight", {hidden});
  add("model.visual.pos_embed.weight", {4, 8});
  add("model.visual.merger.norm.weight", {8});
  add("mtp.norm.weight", {hidden});
  add("mtp.fc.weight", {hidden, 2 * hidden});
  for (int layer = 0; layer < s.layers; ++layer) {
    const std::string prefix = "model.language_model.layers." + std::to_string(layer) + ".";
    add(prefix + "input_layernorm.weight", {hidden});
    add(prefix + "post_attention_layernorm.weight", {hidden});
    if (layer % 4 == 3) {
      add(prefix + "self_attn.q_proj.weight", {8192, hidden});
      add(prefix + "self_attn.k_proj.weight", {512, hidden});
      add(prefix + "self_attn.v_proj.weight", {512, hidden});
      add(prefix + "self_attn.o_proj.weight", {hidden, 4096});
      add(prefix + "self_attn.q_norm.weight", {256});
      add(prefix + "self_attn.k_norm.weight", {256});
    } else {
      const int64_t keys = s.key_heads * 128;
      const int64_t values = s.value_heads * 128;
      add(prefix + "linear_attn.in_proj_qkv.weight", {2 * keys + values, hidden});
      add(prefix + "linear_attn.in_proj_z.weight", {values, hidden});
      add(prefix + "linear_attn.in_proj_a.weight", {s.value_heads, hidden});
      add(prefix + "linear_attn.in_proj_b.weight", {s.value_heads, hidden});
      add(prefix + "linear_attn.conv1d.weight", {2 * keys + values, 1, 4});
      add(prefix + "linear_attn.A_log", {s.value_heads});
      add(prefix + "linear_attn.dt_bias", {s.value_heads});
      add(prefix + "linear_attn.norm.weight", {128});
      add(prefix + "linear_attn.out_proj.weight", {hidden, values});
    }
    add(prefix + "mlp.gate.weight", {s.experts, hidden});
    add(prefix + "mlp.shared_expert_gate.weight", {1, hidden});
    add(prefix + "mlp.shared_expert.gate_proj.weight", {s.expert_width, hidden});
    add(prefix + "mlp.shared_expert.up_proj.weight", {s.expert_width, hidden});
    add(prefix + "mlp.shared_expert.down_proj.weight", {hidden, s.expert_width});
    add(prefix + "mlp.experts.gate_up_proj", {s.experts, 2 * s.expert_width, hidden});
    add(prefix + "mlp.experts.down_proj", {s.experts, hidden, s.expert_width});
  }
  return tensors;
}

TestTensors mlx_tensor_headers(const ShapeInfo& s) {
  TestTensors tensors;
  const auto add_quantized = [&](const std::string& module, std::vector<int64_t> shape, int bits) {
    const int64_t n_in = shape.back();
    shape.back() = n_in * bits / 32;
    tensors[module + ".weight"] = {TensorDtype::kU32, shape, ""};
    shape.back() = n_in / 64;
    tensors[module + ".scales"] = {TensorDtype::kBf16, shape, ""};
    tensors[module + ".biases"] = {TensorDtype::kBf16, shape, ""};
  };
  for (auto& [name, tensor] : hugging_face_tensors(s, false, false)) {
    if (name.starts_with("mtp.") || name.starts_with("model.visual.")) {
      continue;
    }
    std::string path = "language_model." + name;
    if (name.starts_with("model.language_model.")) {
      path = "language_model.model." + name.substr(std::strlen("model.language_model."));
    }
    std::vector<int64_t> shape = tensor.shape;
    if (path.ends_with("experts.gate_up_proj")) {
      const std::string base =
          path.substr(0, path.size() - std::strlen("experts.gate_up_proj")) + "switch_mlp.";
      shape[1] /= 2;
      add_quantized(base + "gate_proj", shape, 4);
      add_quantized(base + "up_proj", shape, 4);
    } else if (path.ends_with("experts.down_proj")) {
      add_quantized(path.substr(0, path.size() - std::strlen("experts.down_proj")) + "switch_mlp.down_proj",
                    shape, 4);
    } else if (shape.size() == 2) {
      const std::string module = path.substr(0, path.size() - std::strlen(".weight"));
      add_quantized(module, shape, ends_with_any(module, {"mlp.gate", "shared_expert_gate"}) ? 8 : 4);
    } else {
      if (shape.size() == 3) {
        std::swap(shape[1], shape[2]);
      }
      tensors[path] = {TensorDtype::kBf16, shape, ""};
    }
  }
  return tensors;
}

void write_tensors(const std::string& directory, const TestTensors& tensors) {
  nlohmann::json header;
  uint64_t position = 0;
  for (const auto& [name, tensor] : tensors) {
    const uint64_t end = position + plan_bytes({name, tensor.dtype, tensor.shape});
    header[name] = {
        {"dtype", dtype_name(tensor.dtype)}, {"shape", tensor.shape}, {"data_offsets", {position, end}}};
    position = end;
  }
  const std::string text = header.dump();
  const uint64_t header_bytes = text.size();
  const std::string path = directory + "/model.safetensors";
  {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(&header_bytes), sizeof(header_bytes));
    out << text;
    uint64_t offset = sizeof(header_bytes) + header_bytes;
    for (const auto& [name, tensor] : tensors) {
      if (!tensor.bytes.empty()) {
        out.seekp(static_cast<std::streamoff>(offset));
        out << tensor.bytes;
      }
      offset += plan_bytes({name, tensor.dtype, tensor.shape});
    }
  }
  std::filesystem::resize_file(path, sizeof(header_bytes) + header_bytes + position);
}

TestTensors read_tensors(const std::string& directory) {
  const SafetensorsSet set(directory);
  TestTensors tensors;
  for (const TensorInfo& info : set.tensors()) {
    TestTensor& tensor = tensors[info.name];
    tensor = {info.dtype, info.shape, std::string(info.size_bytes, '\0')};
    set.read(tensor.bytes.data(), info, 0, info.size_bytes);
  }
  return tensors;
}

std::string checkpoint_data(const std::string& name) {
  return std::string(ORFEBRE_TEST_DATA_DIR) + "/checkpoint/" + name;
}

void copy_config(const std::string& directory, const std::string& name) {
  std::filesystem::copy_file(checkpoint_data(name), directory + "/config.json",
                             std::filesystem::copy_options::overwrite_existing);
}

const std::string& shared_hugging_face_directory(bool all_f32) {
  return g_shared->directory(all_f32);
}

}  // namespace orfebre
