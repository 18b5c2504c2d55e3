// POST /v1/responses: OpenAI's newer API, without storage: GET /v1/responses/{id} knows none.
#include "server/api/sse.h"
#include "server/reply/generation.h"
#include "server/routes/handlers.h"
#include "server/routes/responses/responses_request.h"
#include "server/routes/responses/responses_sinks.h"

#include <ctime>

namespace orfebre {

void handle_responses(const RouteCall& call) {
  const ServerContext& context = call.state.context;
  const api::ResponsesRequest request = api::parse_responses_request(call.request.body);
  std::vector<Generation> generations;
  generations.push_back(make_generation(context, request.chat));
  const ResponseHead head{
      api::random_id("resp_"),      std::time(nullptr),      context.model_name,
      generations.front().sampling, request.chat.max_tokens, request.chat.answer.parallel_calls,
      request.wants_summary,        request.flat_tools,      request.echoed};
  start_replies(call, std::move(generations), [&] {
    std::vector<std::unique_ptr<ReplySink>> sinks;
    sinks.push_back(request.chat.stream ? make_response_stream(call.writer, head, call.headers)
                                        : make_response_whole(call.writer, head, call.headers));
    return sinks;
  });
}

void handle_unknown_response(const RouteCall&) {
  fail(ErrorKind::kNotFound, "this server stores no responses: send the whole conversation as \"input\"");
}

}  // namespace orfebre
