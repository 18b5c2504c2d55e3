// GET /props: what clients of llama.cpp's server ask before they talk.
#include "server/api/json_writer.h"
#include "server/routes/handlers.h"

namespace orfebre {
namespace {

void write_sampling(api::JsonWriter& json, const SamplingParams& sampling) {
  json.begin_object().key("temperature").number(sampling.temperature).key("top_k").integer(sampling.top_k);
  json.key("top_p").number(sampling.top_p).key("min_p").number(sampling.min_p);
  json.key("presence_penalty").number(sampling.presence_penalty);
  json.key("frequency_penalty").number(sampling.frequency_penalty);
  json.key("repeat_penalty").number(sampling.repetition_penalty).end_object();
}

}  // namespace

void handle_props(const RouteCall& call) {
  const ServerContext& context = call.state.context;
  api::JsonWriter json;
  json.begin_object().key("default_generation_settings").begin_object();
  json.key("n_ctx").integer(context.engine.max_context()).key("params");
  write_sampling(json, context.thinks_by_default ? context.sampling.thinking : context.sampling.direct);
  json.key("thinking");
  write_sampling(json, context.sampling.thinking);
  json.key("direct");
  write_sampling(json, context.sampling.direct);
  json.end_object();
  json.key("total_slots").integer(context.engine.stats().max_running);
  json.key("model_alias").string(context.model_name).key("model_path").string(context.model_name);
  json.key("modalities").begin_object().key("vision").boolean(false).key("audio").boolean(false).end_object();
  json.key("chat_template_caps").begin_object();
  for (const char* name : {"supports_tools", "supports_tool_calls", "supports_parallel_tool_calls",
                           "supports_system_role", "supports_preserve_reasoning"}) {
    json.key(name).boolean(true);
  }
  json.end_object().key("thinks_by_default").boolean(context.thinks_by_default);
  json.key("build_info").string(context.fingerprint);
  call.send(json.end_object().take());
}

}  // namespace orfebre
