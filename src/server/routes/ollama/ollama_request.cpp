#include "server/routes/ollama/ollama_request.h"

#include "server/api/api_error.h"
#include "server/api/messages.h"
#include "server/api/sampling_request.h"

#include <algorithm>
#include <limits>

namespace orfebre::api {
namespace {

void add_images(const ObjectReader& from, text::Message& message) {
  const PyJson* images = from.array("images");
  for (size_t i = 0; images && i < images->items.size(); ++i) {
    message.content.push_back(image_part(message.role));
  }
}

void read_calls(const ObjectReader& reader, text::Message& message) {
  reader.each_object("tool_calls", [&](const ObjectReader& call) {
    const auto function = call.object("function");
    const std::string name = function ? function->string("name").value_or("") : std::string();
    if (name.empty()) {
      fail_param(call.path_of("function.name"), "expected a name, found none");
    }
    const PyJson* arguments = function->find("arguments");
    message.tool_calls.push_back(
        {name, arguments ? arguments_text(*arguments, function->path_of("arguments")) : std::string()});
  });
}

text::Message read_message(const ObjectReader& reader) {
  text::Message message;
  message.role = reader.string("role").value_or("");
  const std::string& role = message.role;
  if (role != "system" && role != "user" && role != "assistant" && role != "tool") {
    fail_param(reader.path_of("role"), "expected system, user, assistant or tool");
  }
  if (const auto content = reader.string("content")) {
    message.content.push_back({text::ContentPart::Kind::kText, *content});
  }
  add_images(reader, message);
  if (role == "assistant") {
    message.reasoning_content = reader.string("thinking");
    read_calls(reader, message);
  }
  return message;
}

std::vector<std::string> read_tools(const ObjectReader& body) {
  std::vector<std::string> tools;
  body.each_object("tools", [&](const ObjectReader& tool) {
    const auto function = tool.object("function");
    if (!function || function->string("name").value_or("").empty()) {
      fail_param(tool.path_of("function.name"), "expected a name, found none");
    }
    function->object("parameters");
    tools.push_back(python_json_dumps(tool.json()));
  });
  return tools;
}

// "json", or a schema.
void read_format(const ObjectReader& body, AnswerRequest& answer) {
  const PyJson* format = body.find("format");
  if (!format || (format->is_string() && format->text.empty())) {
    return;
  }
  if (format->is_string() && format->text == "json") {
    answer.format = AnswerRequest::Format::kJsonObject;
  } else if (format->is_object()) {
    answer.format = AnswerRequest::Format::kJsonSchema;
    answer.schema_json = json_dumps_as_written(*format);
    answer.schema_path = "format";
  } else {
    fail_param("format", "expected \"json\" or a schema");
  }
}

// What both bodies share.
void read_common(const ObjectReader& body, ChatRequest& request) {
  request.model = body.string("model").value_or("");
  request.stream = body.boolean("stream").value_or(true);
  request.thinking = read_thinking(body);
  request.loop_guard = body.boolean("loop_guard");
  read_format(body, request.answer);
  const auto options = body.object("options");
  if (!options) {
    return;
  }
  request.sampling = read_sampling(*options);
  request.stop = read_stop(*options, "stop");
  const int64_t most = options->integer("num_predict", -2, std::numeric_limits<int32_t>::max()).value_or(-1);
  request.max_tokens = static_cast<int>(std::max<int64_t>(most, 0));  // negative: no limit
}

}  // namespace

ChatRequest parse_ollama_chat(std::string_view text) {
  const PyJson json = parse_body(text);
  const ObjectReader body(json, "");
  ChatRequest request;
  read_common(body, request);
  request.tools = read_tools(body);
  body.each_object("messages",
                   [&](const ObjectReader& message) { request.messages.push_back(read_message(message)); });
  return request;
}

ChatRequest parse_ollama_generate(std::string_view text) {
  const PyJson json = parse_body(text);
  const ObjectReader body(json, "");
  ChatRequest request;
  read_common(body, request);
  for (const char* name : {"suffix", "context"}) {
    if (const PyJson* value = body.find(name); value && !(value->text.empty() && value->items.empty())) {
      fail_unsupported(name, "not supported here: use /v1/completions");
    }
  }
  if (body.boolean("raw").value_or(false)) {
    fail_unsupported("raw", "not supported here: use /v1/completions, which takes a prompt as it is");
  }
  const std::string prompt = body.string("prompt").value_or("");
  if (prompt.empty()) {
    return request;
  }
  if (const auto system = body.string("system"); system && !system->empty()) {
    request.messages.push_back(text::text_message("system", *system));
  }
  request.messages.push_back(text::text_message("user", prompt));
  add_images(body, request.messages.back());
  return request;
}

}  // namespace orfebre::api
