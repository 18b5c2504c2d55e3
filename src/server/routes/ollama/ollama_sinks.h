// The replies of Ollama's API: lines of JSON, or one object at the end.
#pragma once

#include "server/reply/reply_session.h"

#include <memory>
#include <string>
#include <vector>

namespace orfebre {

struct OllamaForm {
  std::string model;
  bool is_generate = false;  // "response" instead of "message"
  bool stream = true;
};

// "2026-01-31T12:00:00.000000Z", now.
std::string ollama_time();

std::unique_ptr<ReplySink> make_ollama_sink(std::shared_ptr<http::ResponseWriter> writer, OllamaForm form,
                                            std::vector<http::Header> headers);

// The answer to a request without a prompt: the model is loaded.
std::string ollama_loaded(const OllamaForm& form);

}  // namespace orfebre
