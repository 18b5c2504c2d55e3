// GET /v1/models and /v1/models/{id}: the one model, with its context size under every name that clients
// read.
#include "server/api/json_writer.h"
#include "server/route.h"

namespace orfebre {
namespace {

void write_model(api::JsonWriter& json, const ServerContext& context) {
  const int n_context = context.engine.max_context();
  json.begin_object().key("id").string(context.model_name).key("object").string("model");
  json.key("created").integer(context.created).key("owned_by").string("orfebre");
  json.key("context_length").integer(n_context).key("max_model_len").integer(n_context);
  json.key("meta").begin_object();
  json.key("n_ctx").integer(n_context).key("n_ctx_train").integer(context.train_context);
  json.key("n_vocab").integer(context.tokenizer.vocab_size()).end_object();
  json.end_object();
}

}  // namespace

void handle_models(const RouteCall& call) {
  api::JsonWriter json;
  json.begin_object().key("object").string("list").key("data").begin_array();
  write_model(json, call.state.context);
  call.send(json.end_array().end_object().take());
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
