#include "server/routes/messages/messages_request.h"

#include "server/api/api_error.h"
#include "server/api/messages.h"
#include "server/api/sampling_request.h"

#include <utility>

namespace orfebre::api {
namespace {

using text::ContentPart;

constexpr std::string_view kBillingLine = "x-anthropic-billing-header:";

ContentPart text_part(std::string text) {
  return {ContentPart::Kind::kText, std::move(text)};
}

// Calls `read(block, type)` for each block of "content"; a string is one block of text.
template <typename F>
void for_each_block(const PyJson& content, const std::string& path, F&& read) {
  if (content.is_string()) {
    PyJson block;
    block.kind = PyJson::Kind::kObject;
    block.members.push_back({"text", content});
    read(ObjectReader(block, path), "text");
    return;
  }
  if (content.kind != PyJson::Kind::kArray) {
    fail_param(path, "expected a string or an array of blocks, found {}", kind_name(content));
  }
  for (size_t i = 0; i < content.items.size(); ++i) {
    const std::string place = fmt::format("{}[{}]", path, i);
    const ObjectReader block = read_object(content.items[i], place);
    const auto type = block.string("type");
    if (!type) {
      fail_param(place + ".type", "expected a type, found nothing");
    }
    read(block, *type);
  }
}

std::string required_text(const ObjectReader& block, std::string_view name) {
  const auto text = block.string(name);
  if (!text) {
    fail_param(block.path_of(name), "expected a string, found nothing");
  }
  return *text;
}

text::Message read_system(const PyJson& system, const std::string& path) {
  text::Message message;
  message.role = "system";
  for_each_block(system, path, [&](const ObjectReader& block, const std::string& type) {
    if (type != "text") {
      fail_unsupported(block.path_of("type"), "a system text has blocks of type text only");
    }
    std::string text = required_text(block, "text");
    if (text.starts_with(kBillingLine)) {
      const size_t end = text.find('\n');
      text.erase(0, end == std::string::npos ? end : end + 1);
    }
    if (text.empty()) {
      return;
    }
    if (!message.content.empty()) {
      message.content.push_back(text_part("\n\n"));
    }
    message.content.push_back(text_part(std::move(text)));
  });
  return message;
}

// The content of a tool's result: text, and placeholders for images.
void read_result(const ObjectReader& block, text::Message& result) {
  const PyJson* content = block.find("content");
  if (!content) {
    return;
  }
  for_each_block(*content, block.path_of("content"), [&](const ObjectReader& part, const std::string& type) {
    if (!result.content.empty()) {
      result.content.push_back(text_part("\n"));
    }
    if (type == "text") {
      result.content.push_back(text_part(required_text(part, "text")));
    } else if (type == "image" || type == "document") {
      result.content.push_back(image_part(result.role));
    } else {
      result.content.push_back(text_part(part.string("text").value_or("")));
    }
  });
}

// A user's turn: the results of tools each become a message of their own, in order; what is text becomes one.
class UserTurn {
 public:
  explicit UserTurn(std::vector<text::Message>& messages) : messages_(messages) {}

  void add(const ObjectReader& block, const std::string& type) {
    if (type == "tool_result") {
      finish();
      text::Message result;
      result.role = "tool";
      result.tool_call_id = block.string("tool_use_id").value_or("");
      read_result(block, result);
      messages_.push_back(std::move(result));
      is_empty_ = false;
    } else if (type == "text") {
      add_part(text_part(required_text(block, "text")));
    } else if (type == "image" || type == "document") {
      add_part(image_part("user"));
    } else if (const auto text = block.string("text")) {
      add_part(text_part(*text));
    }
  }

  void finish() {
    if (!parts_.empty()) {
      text::Message message;
      message.role = "user";
      message.content = std::exchange(parts_, {});
      messages_.push_back(std::move(message));
    }
  }

  bool is_empty() const { return is_empty_; }

 private:
  void add_part(ContentPart part) {
    if (!parts_.empty()) {
      parts_.push_back(text_part("\n"));
    }
    parts_.push_back(std::move(part));
    is_empty_ = false;
  }

  std::vector<text::Message>& messages_;
  std::vector<ContentPart> parts_;
  bool is_empty_ = true;
};

void read_user(const PyJson& content, const std::string& path, std::vector<text::Message>& messages) {
  UserTurn turn(messages);
  for_each_block(content, path,
                 [&](const ObjectReader& block, const std::string& type) { turn.add(block, type); });
  turn.finish();
  if (turn.is_empty()) {
    messages.push_back(text::text_message("user", ""));
  }
}

text::Message read_assistant(const PyJson& content, const std::string& path) {
  text::Message message;
  message.role = "assistant";
  for_each_block(content, path, [&](const ObjectReader& block, const std::string& type) {
    if (type == "text") {
      message.content.push_back(text_part(required_text(block, "text")));
    } else if (type == "thinking") {
      message.reasoning_content =
          message.reasoning_content.value_or("") + block.string("thinking").value_or("");
    } else if (type == "tool_use") {
      const std::string name = block.string("name").value_or("");
      if (name.empty()) {
        fail_param(block.path_of("name"), "expected a name, found none");
      }
      const PyJson* input = block.find("input");
      message.tool_calls.push_back(
          {name, input ? arguments_text(*input, block.path_of("input")) : std::string()});
    }
  });
  return message;
}

void read_turns(const ObjectReader& body, std::vector<text::Message>& messages) {
  const PyJson* list = body.array("messages");
  if (!list || list->items.empty()) {
    fail_param("messages", "expected at least one message, found none");
  }
  body.each_object("messages", [&](const ObjectReader& turn) {
    const std::string role = turn.string("role").value_or("");
    const PyJson* content = turn.find("content");
    const std::string path = turn.path_of("content");
    if (!content) {
      fail_param(path, "expected a string or an array of blocks, found nothing");
    }
    if (role == "user") {
      read_user(*content, path, messages);
    } else if (role == "assistant") {
      messages.push_back(read_assistant(*content, path));
    } else if (role == "system") {
      messages.push_back(read_system(*content, path));
    } else {
      fail_param(turn.path_of("role"), "expected user, assistant or system");
    }
  });
}

std::vector<std::string> read_tools(const ObjectReader& body) {
  std::vector<std::string> tools;
  body.each_object("tools", [&](const ObjectReader& tool) {
    const PyJson* schema = tool.find("input_schema");
    const std::string type = tool.string("type").value_or("custom");
    if (type != "custom" && type != "function" && !schema) {
      return;  // one of the service's own tools
    }
    const std::string name = tool.string("name").value_or("");
    if (name.empty()) {
      fail_param(tool.path_of("name"), "expected a name, found none");
    }
    tool.object("input_schema");
    tools.push_back(function_tool(name, tool.find("description"), schema));
  });
  return tools;
}

void read_tool_choice(const ObjectReader& body, ChatRequest& request) {
  const auto choice = body.object("tool_choice");
  if (!choice) {
    return;
  }
  const std::string type = choice->string("type").value_or("");
  AnswerRequest& answer = request.answer;
  answer.parallel_calls = !choice->boolean("disable_parallel_tool_use").value_or(false);
  if (type == "none") {
    answer.tools_in_force = false;
    request.tools.clear();
  } else if (type == "any") {
    answer.call_required = true;
  } else if (type == "tool") {
    answer.call_required = true;
    answer.callable.push_back(choice->string("name").value_or(""));
  } else if (type != "auto") {
    fail_param("tool_choice.type", "expected auto, any, tool or none");
  }
}

// output_config.format, or output_format as it was called before.
void read_format(const ObjectReader& body, ChatRequest& request) {
  const auto config = body.object("output_config");
  auto format = config ? config->object("format") : std::nullopt;
  if (!format) {
    format = body.object("output_format");
  }
  if (!format) {
    return;
  }
  if (format->string("type").value_or("") != "json_schema") {
    fail_param(format->path_of("type"), "expected json_schema");
  }
  demand_schema(request.answer, *format);
}

ThinkingFields read_thinking_wish(const ObjectReader& body) {
  ThinkingFields fields = read_thinking(body);
  const bool asked = fields.enabled.value_or(false);
  const auto config = body.object("output_config");
  if (const auto effort = config ? config->string("effort") : std::nullopt; asked && effort) {
    const ThinkingFields meant = thinking_of_effort(*effort);
    if (!fields.budget_tokens) {
      fields.budget_tokens = meant.budget_tokens;
    }
  }
  fields.enabled = asked;
  return fields;
}

}  // namespace

ChatRequest parse_messages_request(std::string_view text) {
  const PyJson json = parse_body(text);
  const ObjectReader body(json, "");
  ChatRequest request;
  request.model = body.string("model").value_or("");
  if (const PyJson* system = body.find("system")) {
    text::Message message = read_system(*system, "system");
    if (!message.content.empty()) {
      request.messages.push_back(std::move(message));
    }
  }
  read_turns(body, request.messages);
  request.tools = read_tools(body);
  read_tool_choice(body, request);
  read_format(body, request);
  request.stream = body.boolean("stream").value_or(false);
  request.max_tokens = read_max_tokens(body, {"max_tokens"});
  request.sampling = read_sampling(body);
  request.stop = read_stop(body, "stop_sequences");
  request.thinking = read_thinking_wish(body);
  request.preserve_thinking = read_preserve_thinking(body);
  request.loop_guard = body.boolean("loop_guard");
  return request;
}

}  // namespace orfebre::api
