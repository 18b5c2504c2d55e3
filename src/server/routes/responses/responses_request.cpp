#include "server/routes/responses/responses_request.h"

#include "server/api/api_error.h"
#include "server/api/messages.h"
#include "server/api/sampling_request.h"

#include <utility>

namespace orfebre::api {
namespace {

using text::ContentPart;

// A string, or parts of type input_text, output_text, text, refusal, input_image.
std::vector<ContentPart> read_parts(const PyJson& content, const std::string& path, const std::string& role) {
  if (content.is_string()) {
    return {{ContentPart::Kind::kText, content.text}};
  }
  if (content.kind != PyJson::Kind::kArray) {
    fail_param(path, "expected a string or an array of parts, found {}", kind_name(content));
  }
  std::vector<ContentPart> parts;
  for (size_t i = 0; i < content.items.size(); ++i) {
    const std::string place = fmt::format("{}[{}]", path, i);
    const ObjectReader part = read_object(content.items[i], place);
    const std::string type = part.string("type").value_or("input_text");
    auto text = part.string("text");
    if (!text) {
      text = part.string("refusal");
    }
    if (text) {
      parts.push_back({ContentPart::Kind::kText, *text});
    } else if (type == "input_image" || type == "image") {
      parts.push_back(image_part(role));
    } else {
      fail_unsupported(place + ".type", "this model reads text only");
    }
  }
  return parts;
}

// The texts of a reasoning item: its content, or its summary where the client kept no more.
std::string read_reasoning(const ObjectReader& item) {
  for (const char* name : {"content", "summary"}) {
    const PyJson* list = item.array(name);
    std::string joined;
    for (size_t i = 0; list && i < list->items.size(); ++i) {
      const PyJson* text = list->items[i].find("text");
      joined += text && text->is_string() ? text->text : std::string();
    }
    if (!joined.empty()) {
      return joined;
    }
  }
  return {};
}

// Puts the items together to messages: reasoning, text and calls in a row are one turn of the assistant.
class ItemReader {
 public:
  explicit ItemReader(std::vector<text::Message>& messages) : messages_(messages) {}

  void read(const ObjectReader& item) {
    const std::string type = item.string("type").value_or("message");
    if (type == "message") {
      read_message(item);
    } else if (type == "function_call") {
      read_call(item);
    } else if (type == "function_call_output") {
      read_output(item);
    } else if (type == "reasoning") {
      const std::string reasoning = read_reasoning(item);
      assistant().reasoning_content = assistant().reasoning_content.value_or("") + reasoning;
    }
  }

 private:
  text::Message& assistant() {
    if (messages_.empty() || messages_.back().role != "assistant" || !is_open_) {
      messages_.emplace_back();
      messages_.back().role = "assistant";
      is_open_ = true;
    }
    return messages_.back();
  }

  void read_message(const ObjectReader& item) {
    const std::string role = item.string("role").value_or("");
    if (role != "user" && role != "assistant" && role != "system" && role != "developer") {
      fail_param(item.path_of("role"), "expected user, assistant, system or developer");
    }
    const PyJson* content = item.find("content");
    std::vector<ContentPart> parts;
    if (content) {
      parts = read_parts(*content, item.path_of("content"), role);
    }
    if (role == "assistant") {
      auto& own = assistant().content;
      own.insert(own.end(), parts.begin(), parts.end());
      return;
    }
    text::Message message;
    message.role = role;
    message.content = std::move(parts);
    add(std::move(message));
  }

  void read_call(const ObjectReader& item) {
    const std::string name = item.string("name").value_or("");
    if (name.empty()) {
      fail_param(item.path_of("name"), "expected a name, found none");
    }
    const PyJson* arguments = item.find("arguments");
    assistant().tool_calls.push_back(
        {name, arguments ? arguments_text(*arguments, item.path_of("arguments")) : std::string()});
  }

  void read_output(const ObjectReader& item) {
    text::Message message;
    message.role = "tool";
    message.tool_call_id = item.string("call_id").value_or("");
    if (const PyJson* output = item.find("output")) {
      message.content = read_parts(*output, item.path_of("output"), "tool");
    }
    add(std::move(message));
  }

  void add(text::Message message) {
    is_open_ = false;
    messages_.push_back(std::move(message));
  }

  std::vector<text::Message>& messages_;
  bool is_open_ = false;  // the last message may still grow
};

void read_input(const ObjectReader& body, std::vector<text::Message>& messages) {
  if (const auto instructions = body.string("instructions"); instructions && !instructions->empty()) {
    messages.push_back(text::text_message("system", *instructions));
  }
  const PyJson* input = body.find("input");
  if (input && input->is_string()) {
    messages.push_back(text::text_message("user", input->text));
  } else if (input) {
    ItemReader reader(messages);
    body.each_object("input", [&](const ObjectReader& item) { reader.read(item); });
  }
  if (messages.empty()) {  // clients probe a server with nothing
    messages.push_back(text::text_message("user", ""));
  }
}

void read_tools(const ObjectReader& body, ResponsesRequest& request) {
  body.each_object("tools", [&](const ObjectReader& tool) {
    if (tool.string("type").value_or("function") != "function") {
      return;
    }
    const std::string name = tool.string("name").value_or("");
    if (name.empty()) {
      fail_param(tool.path_of("name"), "expected a name, found none");
    }
    tool.object("parameters");
    request.chat.tools.push_back(function_tool(name, tool.find("description"), tool.find("parameters")));
    request.flat_tools.push_back(json_dumps_as_written(tool.json()));
  });
}

// text.format: text, json_object or json_schema, the schema beside the type.
void read_format(const ObjectReader& body, ChatRequest& chat) {
  const auto text = body.object("text");
  const auto format = text ? text->object("format") : std::nullopt;
  const std::string type = format ? format->string("type").value_or("text") : "text";
  if (type == "json_object") {
    chat.answer.format = AnswerRequest::Format::kJsonObject;
  } else if (type == "json_schema") {
    demand_schema(chat.answer, *format);
  } else if (type != "text") {
    fail_param("text.format.type", "expected text, json_object or json_schema");
  }
}

// After the others have been read: what is wrong with them has been said.
EchoedFields read_echoed(const ObjectReader& body) {
  const auto repeat = [](std::string& field, const ObjectReader& from, const char* name) {
    if (const PyJson* value = from.find(name)) {
      field = json_dumps_as_written(*value);
    }
  };
  EchoedFields echoed;
  repeat(echoed.instructions, body, "instructions");
  repeat(echoed.metadata, body, "metadata");
  repeat(echoed.tool_choice, body, "tool_choice");
  repeat(echoed.user, body, "user");
  if (const auto text = body.object("text")) {
    repeat(echoed.text_format, *text, "format");
  }
  if (const auto reasoning = body.object("reasoning")) {
    repeat(echoed.reasoning_effort, *reasoning, "effort");
    repeat(echoed.reasoning_summary, *reasoning, "summary");
  }
  return echoed;
}

void refuse_unsupported(const ObjectReader& body) {
  for (const char* name : {"previous_response_id", "conversation", "prompt"}) {
    if (body.find(name)) {
      fail_unsupported(name, "this server stores no conversations: send the whole of it as \"input\"");
    }
  }
  if (body.boolean("background").value_or(false)) {
    fail_unsupported("background", "a reply lives as long as its connection: leave it out");
  }
}

}  // namespace

ResponsesRequest parse_responses_request(std::string_view text) {
  const PyJson json = parse_body(text);
  const ObjectReader body(json, "");
  ResponsesRequest request;
  ChatRequest& chat = request.chat;
  chat.model = body.string("model").value_or("");
  refuse_unsupported(body);
  read_input(body, chat.messages);
  read_tools(body, request);
  chat.answer = read_answer_request(body);
  if (!chat.answer.tools_in_force) {
    chat.tools.clear();
  }
  read_format(body, chat);
  chat.stream = body.boolean("stream").value_or(false);
  chat.max_tokens = read_max_tokens(body, {"max_output_tokens", "max_completion_tokens", "max_tokens"});
  chat.sampling = read_sampling(body);
  chat.stop = read_stop(body, "stop");
  chat.thinking = read_thinking(body);
  chat.preserve_thinking = read_preserve_thinking(body);
  chat.loop_guard = body.boolean("loop_guard");
  if (const auto reasoning = body.object("reasoning")) {
    request.wants_summary = reasoning->string("summary").value_or("none") != "none";
  }
  request.echoed = read_echoed(body);
  return request;
}

}  // namespace orfebre::api
