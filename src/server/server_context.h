// What the server answers with: one loaded model. Built by the command line, read by every route.
#pragma once

#include "engine/engine.h"
#include "sample/sampling_defaults.h"
#include "text/tokenizer.h"

#include <cstdint>
#include <string>
#include <vector>

namespace orfebre {

// Settings for requests that leave them out, one set a mode. A client's own value always wins, field by
// field; with temperature 0 the penalties that it left out are off, so that greedy means the argmax.
struct SamplingDefaults {
  SamplingParams thinking = recommended_sampling(SamplingSet::kThinking);
  SamplingParams direct = recommended_sampling(SamplingSet::kAnswer);  // enable_thinking false
};

// The engine and the tokenizer must outlive the server.
struct ServerContext {
  Engine& engine;
  const text::Tokenizer& tokenizer;
  std::string model_name;         // the id in /v1/models and in replies
  std::vector<int32_t> stop_ids;  // end-of-turn ids
  bool thinks_by_default = true;  // when the client does not say
  SamplingDefaults sampling{};
  int train_context = 262144;  // what the model was trained for; Engine::max_context() is what is served
  int64_t created = 0;         // seconds since the epoch; 0: the server's start
  std::string fingerprint = "orfebre";  // system_fingerprint: the program and its version
};

}  // namespace orfebre
