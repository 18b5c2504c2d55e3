// GET /v1/models and /v1/models/{id}: the one model, with its context size and its abilities under every name
// that clients read.
#include "server/api/json_writer.h"
#include "server/routes/handlers.h"

#include <ctime>

namespace orfebre {
namespace {

std::string iso_time(int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm utc{};
  gmtime_r(&time, &utc);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

void write_model(api::JsonWriter& json, const ServerContext& context) {
  const int n_context = context.engine.max_context();
  json.begin_object().key("id").string(context.model_name).key("object").string("model");
  json.key("created").integer(context.created).key("owned_by").string("orfebre");
  json.key("type").string("model").key("display_name").string(context.model_name);
  json.key("created_at").string(iso_time(context.created));
  json.key("context_length").integer(n_context).key("max_model_len").integer(n_context);
  json.key("context_window").integer(n_context).key("max_context_length").integer(n_context);
  json.key("architecture").begin_object();
  json.key("input_modalities").begin_array().string("text").end_array();
  json.key("output_modalities").begin_array().string("text").end_array().end_object();
  json.key("supported_parameters").begin_array();
  for (const char* name : {"tools", "reasoning", "seed", "stop", "logprobs"}) {
    json.string(name);
  }
  json.end_array().key("meta").begin_object();
  json.key("n_ctx").integer(n_context).key("n_ctx_train").integer(context.train_context);
  json.key("n_vocab").integer(context.tokenizer.vocab_size()).end_object();
  json.end_object();
}

// The list in the form that llama.cpp's clients and Codex read.
void write_short_model(api::JsonWriter& json, const ServerContext& context) {
  json.begin_object().key("name").string(context.model_name).key("model").string(context.model_name);
  json.key("slug").string(context.model_name).key("context_window").integer(context.engine.max_context());
  json.key("capabilities").begin_array().string("completion").string("tools").string("thinking").end_array();
  json.end_object();
}

}  // namespace

void handle_models(const RouteCall& call) {
  const ServerContext& context = call.state.context;
  api::JsonWriter json;
  json.begin_object().key("object").string("list").key("data").begin_array();
  write_model(json, context);
  json.end_array().key("models").begin_array();
  write_short_model(json, context);
  json.end_array().key("has_more").boolean(false);
  json.key("first_id").string(context.model_name).key("last_id").string(context.model_name);
  call.send(json.end_object().take());
}

void handle_model(const RouteCall& call) {
  const std::string id = call.path.substr(std::string_view("/models/").size());
  if (id != call.state.context.model_name) {
    fail(ErrorKind::kNotFound,
         "there is no model of this name here: GET /v1/models names the one that is served");
  }
  api::JsonWriter json;
  write_model(json, call.state.context);
  call.send(json.take());
}

}  // namespace orfebre
