#include "checkpoint/config.h"

#include "base/error.h"
#include "base/printable.h"
#include "checkpoint/json_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>

namespace orfebre {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

constexpr uint64_t kMaxConfigBytes = 4u << 20;

// An object of the file and how to call it in messages: "PATH: text_config".
struct Section {
  object fields;
  std::string where;

  // False for absent and null alike: writers use both.
  bool find(const char* name, element& value) const {
    return fields[name].get(value) == simdjson::SUCCESS && !value.is_null();
  }
  std::string at(const char* name) const { return where + name; }
};

std::string value_text(element value) {
  return printable(simdjson::minify(value));
}

[[noreturn]] void refuse(const Section& section, const char* name, const std::string& expected,
                         const std::string& found) {
  fail(ErrorKind::kUnsupported, "{}: expected {}, found {}; this program runs {} and its fine-tunes only",
       section.at(name), expected, found, Qwen36::kName);
}

int64_t require_int(const Section& section, const char* name) {
  element value;
  int64_t number = 0;
  if (!section.find(name, value)) {
    refuse(section, name, "a whole number", "nothing");
  }
  if (value.get(number) != simdjson::SUCCESS) {
    refuse(section, name, "a whole number", value_text(value));
  }
  return number;
}

void expect_int(const Section& section, const char* name, int64_t expected) {
  const int64_t found = require_int(section, name);
  if (found != expected) {
    refuse(section, name, std::to_string(expected), std::to_string(found));
  }
}

// Absent is fine: the model's own code defaults to `expected`.
void expect_bool_if_present(const Section& section, const char* name, bool expected) {
  element value;
  bool found = false;
  if (section.find(name, value) && (value.get(found) != simdjson::SUCCESS || found != expected)) {
    refuse(section, name, expected ? "true" : "false", value_text(value));
  }
}

void expect_number(const Section& section, const char* name, double expected) {
  element value;
  double found = 0;
  if (!section.find(name, value)) {
    refuse(section, name, fmt::format("{:g}", expected), "nothing");
  }
  if (value.get(found) != simdjson::SUCCESS || !(std::fabs(found - expected) <= 1e-9 * expected)) {
    refuse(section, name, fmt::format("{:g}", expected), value_text(value));
  }
}

void expect_text_if_present(const Section& section, const char* name,
                            std::initializer_list<const char*> accepted) {
  element value;
  if (!section.find(name, value)) {
    return;
  }
  std::string_view found;
  const bool is_text = value.get(found) == simdjson::SUCCESS;
  if (!is_text || std::find(accepted.begin(), accepted.end(), found) == accepted.end()) {
    refuse(section, name, fmt::format("\"{}\"", *accepted.begin()), value_text(value));
  }
}

struct SizeField {
  const char* name;
  int ShapeInfo::*member;
};

// What tells the shapes apart.
constexpr std::array<SizeField, 8> kSizeFields = {{
    {"hidden_size", &ShapeInfo::hidden},
    {"num_hidden_layers", &ShapeInfo::layers},
    {"linear_num_key_heads", &ShapeInfo::key_heads},
    {"linear_num_value_heads", &ShapeInfo::value_heads},
    {"num_experts", &ShapeInfo::experts},
    {"moe_intermediate_size", &ShapeInfo::expert_width},
    {"shared_expert_intermediate_size", &ShapeInfo::expert_width},
    {"vocab_size", &ShapeInfo::vocab},
}};

// The shape that all sizes agree with. Otherwise the error speaks of the shape that most of them agree with.
const ShapeInfo& match_shape(const Section& text) {
  const ShapeInfo* nearest = nullptr;
  int most_matches = -1;
  for (const ShapeInfo& shape : kShapes) {
    int matches = 0;
    for (const SizeField& field : kSizeFields) {
      matches += require_int(text, field.name) == shape.*field.member ? 1 : 0;
    }
    if (matches > most_matches) {
      most_matches = matches;
      nearest = &shape;
    }
  }
  for (const SizeField& field : kSizeFields) {
    expect_int(text, field.name, nearest->*field.member);
  }
  return *nearest;
}

void check_layer_types(const Section& text, const ShapeInfo& shape) {
  element value;
  if (!text.find("layer_types", value)) {
    expect_int(text, "full_attention_interval", CommonShape::kFullAttentionInterval);
    return;
  }
  simdjson::dom::array types;
  if (value.get(types) != simdjson::SUCCESS || types.size() != static_cast<size_t>(shape.layers)) {
    refuse(text, "layer_types", fmt::format("a list of {} names", shape.layers), "another value");
  }
  int layer = 0;
  for (element type : types) {
    const std::string_view expected = shape.is_attention(layer) ? "full_attention" : "linear_attention";
    std::string_view found;
    if (type.get(found) != simdjson::SUCCESS || found != expected) {
      refuse(text, "layer_types", fmt::format("\"{}\" for layer {}", expected, layer), value_text(type));
    }
    ++layer;
  }
}

// Newer files keep the rotary embedding's numbers in rope_parameters, older ones beside it.
void check_rope(const Section& text) {
  element value;
  Section rope = text;
  for (const char* name : {"rope_parameters", "rope_scaling"}) {
    if (text.find(name, value)) {
      if (value.get(rope.fields) != simdjson::SUCCESS) {
        refuse(text, name, "an object", value_text(value));
      }
      rope.where = text.at(name) + ".";
      break;
    }
  }
  expect_text_if_present(rope, "rope_type", {"default"});
  expect_text_if_present(rope, "type", {"default"});
  expect_number(rope.find("rope_theta", value) ? rope : text, "rope_theta", CommonShape::kRopeTheta);
  expect_number(rope.find("partial_rotary_factor", value) ? rope : text, "partial_rotary_factor",
                double{CommonShape::kRotaryDims} / CommonShape::kHeadDim);
}

void check_architecture(const Section& text, const ShapeInfo& shape) {
  expect_int(text, "num_attention_heads", shape.query_heads);
  expect_int(text, "num_key_value_heads", shape.kv_heads);
  expect_int(text, "head_dim", shape.head_dim);
  expect_int(text, "linear_key_head_dim", shape.delta_head_dim);
  expect_int(text, "linear_value_head_dim", shape.delta_head_dim);
  expect_int(text, "linear_conv_kernel_dim", shape.conv_taps);
  expect_int(text, "num_experts_per_tok", shape.active_experts);
  expect_number(text, "rms_norm_eps", 1e-6);
  expect_text_if_present(text, "hidden_act", {"silu"});
  // Names the SiLU gate behind the DeltaNet's norm, not the sigmoid gate of attention.
  expect_text_if_present(text, "output_gate_type", {"swish", "silu"});
  expect_bool_if_present(text, "attn_output_gate", true);
  expect_bool_if_present(text, "attention_bias", false);
  expect_bool_if_present(text, "norm_topk_prob", true);
  expect_bool_if_present(text, "tie_word_embeddings", false);
  check_layer_types(text, shape);
  check_rope(text);
}

// Converters disagree about what stands before "layers.0.mlp.gate".
std::string without_prefix(std::string_view module_path) {
  for (const std::string_view prefix :
       {"language_model.model.", "model.language_model.", "model.", "language_model."}) {
    if (module_path.starts_with(prefix)) {
      return std::string(module_path.substr(prefix.size()));
    }
  }
  return std::string(module_path);
}

QuantizationEntry parse_entry(const Section& section) {
  expect_text_if_present(section, "mode", {"affine"});
  const int64_t bits = require_int(section, "bits");
  const int64_t group_size = require_int(section, "group_size");
  if (bits < 1 || bits > 32 || group_size < 1 || group_size > 4096) {
    refuse(section, "bits", "4 or 8 with group_size 64",
           fmt::format("{} with group_size {}", bits, group_size));
  }
  return {static_cast<int>(bits), static_cast<int>(group_size)};
}

QuantizationConfig parse_quantization(const Section& root) {
  QuantizationConfig result;
  Section section = root;
  element value;
  const char* name = root.find("quantization", value) ? "quantization" : "quantization_config";
  if (!root.find(name, value)) {
    return result;
  }
  if (value.get(section.fields) != simdjson::SUCCESS) {
    refuse(root, name, "an object", value_text(value));
  }
  section.where = root.at(name) + ".";
  if (element method; section.find("quant_method", method)) {
    refuse(section, "quant_method", "MLX's affine format or an unquantised checkpoint", value_text(method));
  }
  result.common = parse_entry(section);
  for (const auto& [path, exception] : section.fields) {
    object fields;
    bool quantized = false;
    if (exception.get(fields) == simdjson::SUCCESS) {
      result.exceptions[without_prefix(path)] = parse_entry({fields, section.where + printable(path) + "."});
    } else if (exception.get(quantized) == simdjson::SUCCESS) {
      result.exceptions[without_prefix(path)] = quantized ? result.common : std::nullopt;
    }
  }
  return result;
}

// One id or a list of ids, each inside the vocabulary.
std::vector<int> parse_eos_ids(const Section& section, const ShapeInfo& shape) {
  std::vector<int> ids;
  element value;
  if (!section.find("eos_token_id", value)) {
    return ids;
  }
  const auto add = [&](element item) {
    int64_t id = -1;
    if (item.get(id) != simdjson::SUCCESS || id < 0 || id >= shape.vocab) {
      fail(ErrorKind::kBadCheckpoint, "{}: expected token ids from 0 to {}, found {}",
           section.at("eos_token_id"), shape.vocab - 1, value_text(item));
    }
    ids.push_back(static_cast<int>(id));
  };
  simdjson::dom::array list;
  if (value.get(list) == simdjson::SUCCESS) {
    for (element item : list) {
      add(item);
    }
  } else {
    add(value);
  }
  return ids;
}

std::optional<double> parse_number(const Section& section, const char* name, double low, double high) {
  element value;
  if (!section.find(name, value)) {
    return std::nullopt;
  }
  double number = 0;
  if (value.get(number) != simdjson::SUCCESS || !(number >= low && number <= high)) {
    fail(ErrorKind::kBadCheckpoint, "{}: expected a number from {:g} to {:g}, found {}", section.at(name),
         low, high, value_text(value));
  }
  return number;
}

}  // namespace

std::optional<QuantizationEntry> QuantizationConfig::of(const std::string& module_path) const {
  const auto entry = exceptions.find(without_prefix(module_path));
  return entry == exceptions.end() ? common : entry->second;
}

bool QuantizationConfig::names(const std::string& module_path) const {
  return exceptions.contains(without_prefix(module_path));
}

ModelConfig read_model_config(const std::string& directory) {
  const std::string path = directory + "/config.json";
  const std::string text = read_small_file(path, kMaxConfigBytes);
  simdjson::dom::parser parser;
  const Section root{parse_json_object(parser, text, path), path + ": "};
  Section text_config = root;
  element nested;
  if (root.find("text_config", nested)) {
    if (nested.get(text_config.fields) != simdjson::SUCCESS) {
      refuse(root, "text_config", "an object", value_text(nested));
    }
    text_config.where = root.at("text_config") + ".";
    expect_text_if_present(root, "model_type", {"qwen3_5_moe"});
    expect_bool_if_present(root, "tie_word_embeddings", false);
  }
  if (element type; !text_config.find("model_type", type)) {
    refuse(text_config, "model_type", "\"qwen3_5_moe_text\"", "nothing");
  }
  expect_text_if_present(text_config, "model_type", {"qwen3_5_moe_text", "qwen3_5_moe"});

  ModelConfig config{match_shape(text_config), 0, {}, {}};
  check_architecture(text_config, config.shape);
  const int64_t positions = require_int(text_config, "max_position_embeddings");
  if (positions < 1) {
    refuse(text_config, "max_position_embeddings", "at least 1", std::to_string(positions));
  }
  config.max_context = static_cast<int>(std::min<int64_t>(positions, config.shape.max_context));
  config.eos_ids = parse_eos_ids(root, config.shape);
  if (config.eos_ids.empty()) {
    config.eos_ids = parse_eos_ids(text_config, config.shape);
  }
  config.quantization = parse_quantization(root);
  return config;
}

GenerationConfig read_generation_config(const std::string& directory, const ModelConfig& model) {
  const std::string path = directory + "/generation_config.json";
  GenerationConfig config;
  if (std::error_code error; std::filesystem::exists(path, error) || error) {
    const std::string text = read_small_file(path, kMaxConfigBytes);
    simdjson::dom::parser parser;
    const Section root{parse_json_object(parser, text, path), path + ": "};
    config.eos_ids = parse_eos_ids(root, model.shape);
    config.temperature = parse_number(root, "temperature", 0, 100);
    config.top_p = parse_number(root, "top_p", 0, 1);
    config.min_p = parse_number(root, "min_p", 0, 1);
    config.repetition_penalty = parse_number(root, "repetition_penalty", 1e-3, 1e3);
    config.presence_penalty = parse_number(root, "presence_penalty", -100, 100);
    if (const auto top_k = parse_number(root, "top_k", 0, 1e9)) {
      config.top_k = static_cast<int>(*top_k);
    }
    bool do_sample = false;
    if (element value; root.find("do_sample", value) && value.get(do_sample) == simdjson::SUCCESS) {
      config.do_sample = do_sample;
    }
  }
  if (config.eos_ids.empty()) {
    config.eos_ids = model.eos_ids;
  }
  if (config.eos_ids.empty()) {
    fail(ErrorKind::kBadCheckpoint,
         "{}: expected eos_token_id in generation_config.json or config.json, found none; "
         "replies would never end",
         directory);
  }
  return config;
}

}  // namespace orfebre
