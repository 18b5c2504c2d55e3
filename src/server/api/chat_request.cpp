#include "server/api/chat_request.h"

#include "server/api/api_error.h"
#include "server/api/messages.h"
#include "server/api/request_reader.h"

namespace orfebre::api {
namespace {

int read_top_logprobs(const ObjectReader& body) {
  const bool wanted = body.boolean("logprobs").value_or(false);
  const auto n_top = body.integer("top_logprobs", 0, kMaxTopLogprobs);
  if (!wanted) {
    if (n_top.value_or(0) > 0) {
      fail_param("top_logprobs", "expected \"logprobs\": true beside it");
    }
    return -1;
  }
  return static_cast<int>(n_top.value_or(0));
}

std::vector<std::string> read_tools(const ObjectReader& body) {
  std::vector<std::string> tools;
  body.each_object("tools", [&](const ObjectReader& tool) {
    if (tool.string("type").value_or("function") != "function") {
      return;
    }
    const auto function = tool.object("function");
    if (!function) {
      fail_param(tool.path_of("function"), "expected an object, found nothing");
    }
    if (function->string("name").value_or("").empty()) {
      fail_param(function->path_of("name"), "expected a name, found none");
    }
    function->object("parameters");
    tools.push_back(python_json_dumps(tool.json()));
  });
  return tools;
}

void refuse_unsupported(const ObjectReader& body) {
  for (const char* name : {"functions", "audio"}) {
    if (const PyJson* value = body.find(name); value && !(value->items.empty() && value->members.empty())) {
      fail_unsupported(name, "not supported; functions are declared in \"tools\"");
    }
  }
}

}  // namespace

ChatRequest parse_chat_request(std::string_view text) {
  const PyJson json = parse_body(text);
  const ObjectReader body(json, "");
  ChatRequest request;
  request.model = body.string("model").value_or("");
  refuse_unsupported(body);
  request.stream = body.boolean("stream").value_or(false);
  request.include_usage = read_include_usage(body);
  request.max_tokens = read_max_tokens(body, {"max_completion_tokens", "max_tokens"});
  request.sampling = read_sampling(body);
  request.stop = read_stop(body, "stop");
  request.n_top_logprobs = read_top_logprobs(body);
  request.n_replies = static_cast<int>(body.integer("n", 1, kMaxReplies).value_or(1));
  request.thinking = read_thinking(body);
  request.preserve_thinking = read_preserve_thinking(body);
  request.loop_guard = body.boolean("loop_guard");
  request.answer = read_answer_request(body);
  request.tools = read_tools(body);
  if (!request.answer.tools_in_force) {
    request.tools.clear();
  }
  request.messages = read_messages(body);
  return request;
}

}  // namespace orfebre::api
