// POST /v1/chat/completions. On a request thread: rendering and tokenizing a long conversation takes
// milliseconds, which neither sockets nor replies must wait for.
#include "server/api/chat_request.h"
#include "server/api/sse.h"
#include "server/reply/generation.h"
#include "server/routes/chat/chat_sinks.h"
#include "server/routes/handlers.h"

#include <ctime>

namespace orfebre {

void handle_chat(const RouteCall& call) {
  const ServerContext& context = call.state.context;
  const api::ChatRequest chat = api::parse_chat_request(call.request.body);
  std::vector<Generation> generations(static_cast<size_t>(chat.n_replies), make_generation(context, chat));
  for (size_t i = 0; i < generations.size(); ++i) {
    generations[i].sampling.seed += i;
  }
  start_replies(call, std::move(generations), [&] {
    const api::ReplyHead head{api::random_id("chatcmpl-"), std::time(nullptr), context.model_name,
                              context.fingerprint, false};
    return chat.stream
               ? make_chat_stream(call.writer, head, chat.n_replies, chat.include_usage, call.headers)
               : make_chat_whole(call.writer, head, chat.n_replies, chat.n_top_logprobs >= 0, call.headers);
  });
}

}  // namespace orfebre
