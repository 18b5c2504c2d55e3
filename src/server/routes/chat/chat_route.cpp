// POST /v1/chat/completions: from the request's JSON to a running reply. On a request thread: rendering and
// tokenizing a long conversation takes milliseconds, which neither sockets nor replies must wait for.
#include "server/api/api_error.h"
#include "server/api/chat_request.h"
#include "server/api/sse.h"
#include "server/reply/stop_policy.h"
#include "server/route.h"
#include "server/routes/chat/chat_sinks.h"
#include "text/chat_template.h"

#include <ctime>

namespace orfebre {
namespace {

std::vector<int32_t> encode_prompt(const ServerContext& context, const api::ChatRequest& chat,
                                   bool thinking) {
  text::ChatOptions options;
  options.enable_thinking = thinking;
  options.preserve_thinking = chat.preserve_thinking;
  const std::vector<text::Segment> segments = text::render_chat(chat.messages, chat.tools, options);
  std::vector<int32_t> prompt = context.tokenizer.encode(segments);
  const int max_context = context.engine.max_context();
  if (static_cast<int64_t>(prompt.size()) >= max_context) {
    api::fail_context(static_cast<int64_t>(prompt.size()), max_context);
  }
  return prompt;
}

Request engine_request(const ServerContext& context, const api::ChatRequest& chat, bool thinking) {
  Request request;
  request.prompt = encode_prompt(context, chat, thinking);
  request.sampling =
      api::resolve_sampling(chat.sampling, thinking ? context.sampling.thinking : context.sampling.direct);
  request.max_tokens = chat.max_tokens;
  request.stop_ids = context.stop_ids;
  request.n_top_logprobs = chat.n_top_logprobs;
  request.policy = make_stop_policy(context.tokenizer, chat.stop, thinking);
  return request;
}

// Submits the request; from then on it is admitted, and the head of a stream can go out.
void start_reply(const RouteCall& call, const api::ChatRequest& chat, Request request,
                 text::ToolSchemas schemas, const ReplySettings& settings) {
  const ServerContext& context = call.state.context;
  const std::shared_ptr<TokenStream> stream = context.engine.submit(std::move(request));
  try {
    call.writer->on_disconnect([stream] { stream->cancel(); });
    const api::ReplyHead head{api::random_id("chatcmpl-"), std::time(nullptr), context.model_name,
                              context.fingerprint, false};
    auto sink = chat.stream ? make_chat_stream(call.writer, head, chat.include_usage, call.headers)
                            : make_chat_whole(call.writer, head, settings.wants_logprobs, call.headers);
    call.state.replies.add(std::make_shared<ReplySession>(stream, call.writer, std::move(sink),
                                                          context.tokenizer, std::move(schemas), settings));
  } catch (...) {
    stream->cancel();  // nobody would read it
    throw;
  }
}

}  // namespace

void handle_chat(const RouteCall& call) {
  const ServerContext& context = call.state.context;
  const api::ChatRequest chat = api::parse_chat_request(call.request.body);
  const bool thinking = chat.enable_thinking.value_or(context.thinks_by_default);
  Request request = engine_request(context, chat, thinking);
  if (!call.writer->is_open()) {
    return;  // left while its prompt was being read
  }

  ReplySettings settings;
  settings.stop = chat.stop;
  settings.starts_in_think = thinking;
  settings.parse_tools = !chat.tools.empty();
  settings.wants_logprobs = chat.n_top_logprobs >= 0;
  settings.prompt_tokens = static_cast<int>(request.prompt.size());
  text::ToolSchemas schemas(chat.tools);

  start_reply(call, chat, std::move(request), std::move(schemas), settings);
}

}  // namespace orfebre
