#include "server/api/messages.h"

#include "server/api/api_error.h"

#include <algorithm>
#include <array>

namespace orfebre::api {
namespace {

using text::ContentPart;

constexpr std::array<std::string_view, 6> kRoles = {"system",    "developer", "user",
                                                    "assistant", "tool",      "function"};

void add_reasoning(text::Message& message, const std::string& reasoning) {
  if (!message.reasoning_content) {
    message.reasoning_content.emplace();
  }
  *message.reasoning_content += reasoning;
}

void read_part(const PyJson& json, const std::string& path, text::Message& message) {
  if (json.is_string()) {
    message.content.push_back({ContentPart::Kind::kText, json.text});
    return;
  }
  if (!json.is_object()) {
    fail_param(path, "expected a string or an object, found {}", kind_name(json));
  }
  const ObjectReader part(json, path);
  const std::string type = part.string("type").value_or("text");
  if (type == "image_url" || type == "image" || type == "input_image") {
    message.content.push_back(image_part(message.role));
  } else if (type == "video_url" || type == "video" || type == "input_video") {
    message.content.push_back({ContentPart::Kind::kVideo, {}});
  } else if (type == "refusal") {
    message.content.push_back({ContentPart::Kind::kText, part.string("refusal").value_or("")});
  } else if (type == "thinking" || type == "reasoning") {
    auto reasoning = part.string("thinking");
    if (!reasoning) {
      reasoning = part.string("text");
    }
    if (message.role == "assistant" && reasoning) {
      add_reasoning(message, *reasoning);
    }
  } else if (const auto text = part.string("text")) {
    message.content.push_back({ContentPart::Kind::kText, *text});
  } else if (type == "text" || type == "input_text" || type == "output_text") {
    fail_param(path + ".text", "expected a string, found nothing");
  } else {
    fail_unsupported(path + ".type", "this model reads text only");
  }
}

void read_content(const ObjectReader& reader, text::Message& message) {
  const PyJson* content = reader.find("content");
  if (!content) {
    return;
  }
  const std::string path = reader.path_of("content");
  if (content->is_string()) {
    message.content.push_back({ContentPart::Kind::kText, content->text});
    return;
  }
  if (content->kind != PyJson::Kind::kArray) {
    fail_param(path, "expected a string, null or an array of parts, found {}", kind_name(*content));
  }
  for (size_t i = 0; i < content->items.size(); ++i) {
    read_part(content->items[i], fmt::format("{}[{}]", path, i), message);
  }
}

bool is_json_object(const std::string& text) {
  try {
    return parse_python_json(text, "arguments", true).is_object();
  } catch (const Error&) {
    return false;
  }
}

std::string read_arguments(const ObjectReader& function) {
  const PyJson* arguments = function.find("arguments");
  return arguments ? arguments_text(*arguments, function.path_of("arguments")) : std::string();
}

void read_tool_calls(const ObjectReader& reader, text::Message& message) {
  reader.each_object("tool_calls", [&](const ObjectReader& call) {
    const auto function = call.object("function");
    if (!function) {
      fail_param(call.path_of("function"), "expected an object, found nothing");
    }
    const std::string name = function->string("name").value_or("");
    if (name.empty()) {
      fail_param(function->path_of("name"), "expected a name, found none");
    }
    message.tool_calls.push_back({name, read_arguments(*function)});
  });
}

text::Message read_message(const ObjectReader& reader) {
  text::Message message;
  const auto role = reader.string("role");
  if (!role) {
    fail_param(reader.path_of("role"), "expected a role, found nothing");
  }
  if (std::find(kRoles.begin(), kRoles.end(), *role) == kRoles.end()) {
    fail_param(reader.path_of("role"), "expected system, developer, user, assistant or tool");
  }
  message.role = *role;
  read_content(reader, message);
  if (message.role == "assistant") {
    auto reasoning = reader.string("reasoning_content");
    if (!reasoning) {
      reasoning = reader.string("reasoning");
    }
    if (reasoning) {
      message.reasoning_content = reasoning;
    }
    read_tool_calls(reader, message);
  }
  message.tool_call_id = reader.string("tool_call_id").value_or("");
  return message;
}

}  // namespace

ContentPart image_part(std::string_view role) {
  if (role == "tool" || role == "function") {
    return {ContentPart::Kind::kText, std::string(kImagePlaceholder)};
  }
  return {ContentPart::Kind::kImage, {}};
}

std::string function_tool(const std::string& name, const PyJson* description, const PyJson* parameters) {
  const auto text = [](const std::string& value) {
    PyJson json;
    json.kind = PyJson::Kind::kString;
    json.text = value;
    return json;
  };
  PyJson function;
  function.kind = PyJson::Kind::kObject;
  function.members.push_back({"name", text(name)});
  if (description) {
    function.members.push_back({"description", *description});
  }
  if (parameters) {
    function.members.push_back({"parameters", *parameters});
  }
  PyJson tool;
  tool.kind = PyJson::Kind::kObject;
  tool.members.push_back({"type", text("function")});
  tool.members.push_back({"function", std::move(function)});
  return python_json_dumps(tool);
}

std::string arguments_text(const PyJson& arguments, std::string_view path) {
  if (arguments.is_object()) {
    return python_json_dumps(arguments);
  }
  if (!arguments.is_string()) {
    fail_param(path, "expected a string or an object, found {}", kind_name(arguments));
  }
  if (arguments.text.empty() || is_json_object(arguments.text)) {
    return arguments.text;
  }
  std::string wrapped = "{\"arguments\": ";
  append_json_string(wrapped, arguments.text);
  return wrapped + "}";
}

std::vector<text::Message> read_messages(const ObjectReader& body) {
  const PyJson* list = body.array("messages");
  if (!list) {
    fail_param("messages", "expected an array of messages, found nothing");
  }
  if (list->items.empty()) {
    fail_param("messages", "expected at least one message, found none");
  }
  std::vector<text::Message> messages;
  messages.reserve(list->items.size());
  body.each_object("messages",
                   [&](const ObjectReader& message) { messages.push_back(read_message(message)); });
  return messages;
}

}  // namespace orfebre::api
