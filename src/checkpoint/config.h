// config.json and generation_config.json of a checkpoint directory: which shape it is, how its matrices are
// quantised, which tokens end a reply, which sampling its authors recommend.
// Refuses every model that this program would compute wrongly. Does not read the tokenizer or the template.
#pragma once

#include "spec/shape.h"

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace orfebre {

// One matrix's format as the config states it.
struct QuantizationEntry {
  int bits = 4;
  int group_size = 64;
};

// MLX's "quantization" object: a default and exceptions by module path, "layers.0.mlp.gate" (what converters
// put before that differs, and is cut off). An exception without value means that the module is not
// quantised.
struct QuantizationConfig {
  std::optional<QuantizationEntry> common;
  std::unordered_map<std::string, std::optional<QuantizationEntry>> exceptions;

  // What the config says about a module, whatever prefix its path has.
  std::optional<QuantizationEntry> of(const std::string& module_path) const;
  // Whether there is an exception for the module.
  bool names(const std::string& module_path) const;
};

struct ModelConfig {
  ShapeInfo shape;
  int max_context = 0;       // tokens: the checkpoint's own limit, at most the shape's
  std::vector<int> eos_ids;  // config.json's, used when generation_config.json has none
  QuantizationConfig quantization;
};

// Absent fields have no value: the server's defaults apply.
struct GenerationConfig {
  std::vector<int> eos_ids;  // never empty after read_generation_config
  std::optional<bool> do_sample;
  std::optional<double> temperature;
  std::optional<double> top_p;
  std::optional<int> top_k;
  std::optional<double> min_p;
  std::optional<double> repetition_penalty;
  std::optional<double> presence_penalty;
};

// Throws Error(kNotFound) without config.json; Error(kUnsupported) with the field, what was found and what is
// expected when the model is of another kind or shape; Error(kBadCheckpoint) when the file is damaged.
ModelConfig read_model_config(const std::string& directory);

// generation_config.json is optional; its absence leaves config.json's end tokens. Throws
// Error(kBadCheckpoint) for values out of range and when neither file names an end token inside the
// vocabulary.
GenerationConfig read_generation_config(const std::string& directory, const ModelConfig& model);

}  // namespace orfebre
