// The part of Ollama's API that programs made for it need: chat, generate, and what they ask before.
#include "server/api/json_writer.h"
#include "server/api/request_reader.h"
#include "server/reply/generation.h"
#include "server/routes/handlers.h"
#include "server/routes/ollama/ollama_request.h"
#include "server/routes/ollama/ollama_sinks.h"

namespace orfebre {
namespace {

// The version of Ollama whose API is spoken here: clients look at it to know what they may ask.
constexpr const char* kSpokenVersion = "0.12.0";

void answer(const RouteCall& call, const api::ChatRequest& chat, bool is_generate) {
  const ServerContext& context = call.state.context;
  const OllamaForm form{context.model_name, is_generate, chat.stream};
  if (chat.messages.empty()) {
    call.send(ollama_loaded(form));
    return;
  }
  std::vector<Generation> generations;
  generations.push_back(make_generation(context, chat));
  start_replies(call, std::move(generations), [&] {
    std::vector<std::unique_ptr<ReplySink>> sinks;
    sinks.push_back(make_ollama_sink(call.writer, form, call.headers));
    return sinks;
  });
}

void write_details(api::JsonWriter& json) {
  json.key("details").begin_object().key("parent_model").string("").key("format").string("safetensors");
  json.key("family").string("qwen35moe").key("families").begin_array().string("qwen35moe").end_array();
  json.key("parameter_size").string("").key("quantization_level").string("4-bit").end_object();
}

void write_model(api::JsonWriter& json, const ServerContext& context) {
  json.begin_object().key("name").string(context.model_name).key("model").string(context.model_name);
  json.key("modified_at")
      .string(ollama_time())
      .key("size")
      .integer(0)
      .key("digest")
      .string(context.fingerprint);
  write_details(json);
}

void send_models(const RouteCall& call, bool is_running) {
  api::JsonWriter json;
  json.begin_object().key("models").begin_array();
  write_model(json, call.state.context);
  if (is_running) {
    json.key("expires_at").string("2100-01-01T00:00:00Z").key("size_vram").integer(0);
    json.key("context_length").integer(call.state.context.engine.max_context());
  }
  json.end_object();
  call.send(json.end_array().end_object().take());
}

}  // namespace

void handle_ollama_chat(const RouteCall& call) {
  answer(call, api::parse_ollama_chat(call.request.body), false);
}

void handle_ollama_generate(const RouteCall& call) {
  answer(call, api::parse_ollama_generate(call.request.body), true);
}

void handle_ollama_tags(const RouteCall& call) {
  send_models(call, false);
}

void handle_ollama_ps(const RouteCall& call) {
  send_models(call, true);
}

void handle_ollama_show(const RouteCall& call) {
  api::parse_body(call.request.body);  // any name is the model that is loaded
  const ServerContext& context = call.state.context;
  api::JsonWriter json;
  json.begin_object().key("license").string("").key("modelfile").string("").key("parameters").string("");
  json.key("template").string("{{ .Prompt }}").key("modified_at").string(ollama_time());
  write_details(json);
  json.key("model_info").begin_object().key("general.architecture").string("qwen35moe");
  json.key("general.basename").string(context.model_name);
  json.key("qwen35moe.context_length").integer(context.engine.max_context()).end_object();
  json.key("capabilities").begin_array();
  for (const char* name : {"completion", "tools", "thinking"}) {
    json.string(name);
  }
  call.send(json.end_array().end_object().take());
}

void handle_ollama_version(const RouteCall& call) {
  api::JsonWriter json;
  json.begin_object().key("version").string(kSpokenVersion);
  call.send(json.end_object().take());
}

}  // namespace orfebre
