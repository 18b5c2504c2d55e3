// Goldens: greedy runs of a model by another engine, one JSON file each, as tools/goldens/make_goldens.py
// writes them from mlx-lm. Reading and checking only.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace orfebre {

struct GoldenStep {
  int32_t chosen = 0;                           // the likeliest id
  std::vector<std::pair<int32_t, double>> top;  // ids and natural log-probabilities, descending
};

struct Golden {
  std::string name;     // the file's, without ".json"
  std::string model;    // what ran
  std::string version;  // of mlx-lm
  std::string dtype;    // of its activations; empty when the file does not say
  bool chat = false;    // `prompt` is one user message in the chat template, not bare text
  std::string prompt;
  std::vector<int32_t> prompt_ids;
  std::vector<GoldenStep> steps;  // step 0 follows the prompt, step i the chosen ids before it

  int total_tokens() const { return static_cast<int>(prompt_ids.size() + steps.size()); }
};

// All *.json files of a directory that hold goldens, by name; others (a list of prompts) are passed over.
// Throws Error: kNotFound without such files; kInvalidRequest naming the file and the field when one is
// damaged or has ids outside [0, vocab).
std::vector<Golden> read_goldens(const std::string& directory, int vocab);

}  // namespace orfebre
