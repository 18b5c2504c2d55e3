// POST /v1/messages and /v1/messages/count_tokens: Anthropic's API.
#include "server/api/json_writer.h"
#include "server/api/sse.h"
#include "server/reply/generation.h"
#include "server/routes/handlers.h"
#include "server/routes/messages/messages_request.h"
#include "server/routes/messages/messages_sinks.h"

namespace orfebre {

void handle_messages(const RouteCall& call) {
  const ServerContext& context = call.state.context;
  const api::ChatRequest chat = api::parse_messages_request(call.request.body);
  std::vector<Generation> generations;
  generations.push_back(make_generation(context, chat));
  const MessageHead head{api::random_id("msg_"), context.model_name, generations.front().reply.prompt_tokens};
  start_replies(call, std::move(generations), [&] {
    std::vector<std::unique_ptr<ReplySink>> sinks;
    sinks.push_back(chat.stream ? make_message_stream(call.writer, head, call.headers)
                                : make_message_whole(call.writer, head, call.headers));
    return sinks;
  });
}

void handle_count_tokens(const RouteCall& call) {
  const api::ChatRequest chat = api::parse_messages_request(call.request.body);
  api::JsonWriter json;
  json.begin_object().key("input_tokens");
  json.integer(static_cast<int64_t>(encode_chat(call.state.context, chat).size()));
  call.send(json.end_object().take());
}

}  // namespace orfebre
