// From a directory to a model that answers: checkpoint, memory plan, backend, weights, engine, tokenizer, in
// that order. The only place that joins them.
#pragma once

#include "checkpoint/checkpoint.h"
#include "cli/app/memory_choice.h"
#include "cli/options.h"
#include "engine/engine.h"
#include "model/model.h"
#include "server/server_context.h"
#include "text/tokenizer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace orfebre::cli {

// A checkpoint whose headers were read and found complete, and the backend that will run it. No weights yet.
struct OpenedModel {
  std::string directory;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<Checkpoint> checkpoint;
  GenerationConfig generation;

  MemoryNeeds memory_needs(const ModelOptions& options) const;
};

// Throws Error for a directory that is no checkpoint of a known shape, or an unknown backend.
OpenedModel open_model(const ModelOptions& options);

// Loads the weights, with a progress bar on a terminal; consumes the backend. The checkpoint must outlive the
// model when the plan streams experts. Throws Error, also when a stop signal came meanwhile.
std::unique_ptr<Model> load_weights_with_progress(OpenedModel& opened, const MemoryChoice& memory);

// A model that takes requests.
struct LoadedModel {
  std::string directory;
  MemoryChoice memory;
  std::string backend_name;
  std::vector<int32_t> stop_ids;
  SamplingDefaults sampling;
  int model_context = 0;  // tokens that the model was made for
  double load_seconds = 0;
  std::unique_ptr<text::Tokenizer> tokenizer;
  std::unique_ptr<Checkpoint> checkpoint;  // streamed experts are read from it as long as the engine lives
  std::unique_ptr<Engine> engine;
};

// open_model, choose_memory (logged before anything is loaded), weights, tokenizer, engine.
LoadedModel load_model(const ModelOptions& options);

// The tokenizer alone.
text::Tokenizer load_tokenizer(const std::string& directory);

}  // namespace orfebre::cli
