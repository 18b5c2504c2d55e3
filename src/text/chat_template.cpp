#include "text/chat_template.h"

#include "base/error.h"
#include "base/python_json.h"
#include "text/utf8.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace orfebre::text {
namespace {

// The model's own words (chat_template.jinja, Apache-2.0, Alibaba Cloud): every byte counts.
constexpr std::string_view kToolsOpening =
    "<|im_start|>system\n# Tools\n\nYou have access to the following functions:\n\n<tools>";
constexpr std::string_view kToolsClosing =
    "\n</tools>\n\nIf you choose to call a function ONLY reply in the following format with NO suffix:\n\n"
    "<tool_call>\n<function=example_function_name>\n<parameter=example_parameter_1>\nvalue_1\n</parameter>\n"
    "<parameter=example_parameter_2>\nThis is the value for the second parameter\nthat can span\n"
    "multiple lines\n</parameter>\n</function>\n</tool_call>\n\n<IMPORTANT>\nReminder:\n"
    "- Function calls MUST follow the specified format: an inner <function=...></function> block must be "
    "nested within <tool_call></tool_call> XML tags\n"
    "- Required parameters MUST be specified\n"
    "- You may provide optional reasoning for your function call in natural language BEFORE the function "
    "call, but NOT after\n"
    "- If there is no function call available, answer the question like normal with your current knowledge "
    "and do not tell the user about function calls\n"
    "</IMPORTANT>";
constexpr std::string_view kTurnEnd = "<|im_end|>\n";
constexpr std::string_view kThinkOpening = "<think>";
constexpr std::string_view kThinkClosing = "</think>";

enum class Role { kSystem, kUser, kAssistant, kTool };

Role parse_role(std::string_view role, size_t index) {
  if (role == "system" || role == "developer") {
    return Role::kSystem;
  }
  if (role == "user") {
    return Role::kUser;
  }
  if (role == "assistant") {
    return Role::kAssistant;
  }
  if (role == "tool" || role == "function") {
    return Role::kTool;
  }
  fail(ErrorKind::kInvalidRequest,
       "messages[{}].role: expected system, developer, user, assistant, tool or function, found another role",
       index);
}

struct Turn {
  Role role;
  std::string content;  // all parts, stripped
  const Message* message;
};

std::string stripped_content(const Message& message, size_t index) {
  std::string content;
  for (size_t p = 0; p < message.content.size(); ++p) {
    if (message.content[p].kind != ContentPart::Kind::kText) {
      fail(ErrorKind::kUnsupported,
           "messages[{}].content[{}]: images and videos are not supported by this engine; send text only",
           index, p);
    }
    content += message.content[p].text;
  }
  return std::string(python_strip(content));
}

std::string_view strip_newlines_left(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of('\n'), text.size()));
  return text;
}

std::string_view strip_newlines_right(std::string_view text) {
  return text.substr(0, text.find_last_not_of('\n') + 1);  // npos + 1 is 0
}

class Renderer {
 public:
  Renderer(std::span<const Message> messages, const ChatOptions& options) : options_(options) {
    if (messages.empty()) {
      fail(ErrorKind::kInvalidRequest, "messages: expected at least one message, found none");
    }
    turns_.reserve(messages.size());
    for (size_t i = 0; i < messages.size(); ++i) {
      Turn turn{parse_role(messages[i].role, i), stripped_content(messages[i], i), &messages[i]};
      if (turns_.empty() && turn.role == Role::kSystem) {
        add_leading_system(turn.content);
      } else {
        turns_.push_back(std::move(turn));
      }
    }
    for (size_t i = 0; i < turns_.size(); ++i) {
      const std::string& content = turns_[i].content;
      const bool wrapped_result =
          content.starts_with("<tool_response>") && content.ends_with("</tool_response>");
      if (turns_[i].role == Role::kUser && !wrapped_result) {
        last_query_ = static_cast<int64_t>(i);
      }
    }
  }

  std::vector<Segment> render(std::span<const std::string> tools) {
    if (!tools.empty()) {
      render_tools(tools);
    } else if (has_system_) {
      render_plain_turn("system", system_);
    }
    for (size_t i = 0; i < turns_.size(); ++i) {
      switch (turns_[i].role) {
        case Role::kSystem: render_plain_turn("system", turns_[i].content); break;
        case Role::kUser: render_plain_turn("user", turns_[i].content); break;
        case Role::kAssistant: render_assistant(i); break;
        case Role::kTool: render_tool_result(i); break;
      }
    }
    if (options_.add_generation_prompt) {
      control("<|im_start|>assistant\n");
      control(options_.enable_thinking ? "<think>\n" : "<think>\n\n</think>\n\n");
    }
    return std::move(segments_);
  }

 private:
  void append(std::string_view text, bool is_control) {
    if (text.empty()) {
      return;
    }
    if (segments_.empty() || segments_.back().is_control != is_control) {
      segments_.push_back({{}, is_control});
    }
    segments_.back().text += text;
  }
  void control(std::string_view text) { append(text, true); }
  void plain(std::string_view text) { append(text, false); }

  void add_leading_system(std::string_view content) {
    has_system_ = true;
    if (!system_.empty() && !content.empty()) {
      system_ += "\n\n";
    }
    system_ += content;
  }

  void render_plain_turn(std::string_view role, std::string_view content) {
    control("<|im_start|>");
    control(role);
    control("\n");
    plain(content);
    control(kTurnEnd);
  }

  void render_tools(std::span<const std::string> tools) {
    control(kToolsOpening);
    for (size_t t = 0; t < tools.size(); ++t) {
      const std::string where = fmt::format("tools[{}]", t);
      const PyJson tool = parse_python_json(tools[t], where, true);
      if (!tool.is_object()) {
        fail(ErrorKind::kInvalidRequest, "{}: expected a JSON object, found another value", where);
      }
      control("\n");
      plain(python_json_dumps(tool));
    }
    control(kToolsClosing);
    if (!system_.empty()) {
      control("\n\n");
      plain(system_);
    }
    control(kTurnEnd);
  }

  void render_assistant(size_t i) {
    const Message& message = *turns_[i].message;
    std::string_view content = turns_[i].content;
    std::string_view reasoning;
    if (message.reasoning_content) {
      reasoning = *message.reasoning_content;
    } else if (const size_t first = content.find(kThinkClosing); first != std::string_view::npos) {
      reasoning = strip_newlines_right(content.substr(0, first));
      if (const size_t open = reasoning.rfind(kThinkOpening); open != std::string_view::npos) {
        reasoning.remove_prefix(open + kThinkOpening.size());
      }
      content = strip_newlines_left(content.substr(content.rfind(kThinkClosing) + kThinkClosing.size()));
    }
    control("<|im_start|>assistant\n");
    if (options_.preserve_thinking || static_cast<int64_t>(i) > last_query_) {
      control("<think>\n");
      plain(python_strip(reasoning));
      control("\n</think>\n\n");
    }
    plain(content);
    for (size_t c = 0; c < message.tool_calls.size(); ++c) {
      if (c > 0) {
        control("\n");
      } else if (!python_strip(content).empty()) {
        control("\n\n");
      }
      render_call(message.tool_calls[c]);
    }
    control(kTurnEnd);
  }

  void render_call(const ToolCall& call) {
    control("<tool_call>\n<function=");
    plain(call.name);
    control(">\n");
    for (const auto& [name, value] : parse_arguments(call.arguments_json)) {
      control("<parameter=");
      plain(name);
      control(">\n");
      plain(value.is_string() ? value.text : python_json_dumps(value));
      control("\n</parameter>\n");
    }
    control("</function>\n</tool_call>");
  }

  // A call that an earlier reply got wrong must not make the rest of the conversation unusable.
  static std::vector<PyJsonMember> parse_arguments(const std::string& json) {
    if (python_strip(json).empty()) {
      return {};
    }
    try {
      PyJson arguments = parse_python_json(json, "arguments", true);
      if (arguments.is_object()) {
        return std::move(arguments.members);
      }
      if (arguments.kind == PyJson::Kind::kNull) {
        return {};
      }
    } catch (const Error&) {
    }
    PyJson raw;
    raw.kind = PyJson::Kind::kString;
    raw.text = json;
    return {{"arguments", std::move(raw)}};
  }

  void render_tool_result(size_t i) {
    // The template opens no turn for a result that opens the conversation; where it would refuse the
    // conversation anyway, the turn is opened.
    const bool opens = i > 0 ? turns_[i - 1].role != Role::kTool : has_system_ || last_query_ < 0;
    if (opens) {
      control("<|im_start|>user");
    }
    control("\n<tool_response>\n");
    plain(turns_[i].content);
    control("\n</tool_response>");
    if (i + 1 == turns_.size() || turns_[i + 1].role != Role::kTool) {
      control(kTurnEnd);
    }
  }

  const ChatOptions options_;
  bool has_system_ = false;
  std::string system_;
  std::vector<Turn> turns_;  // all but the leading system messages
  // The last user message that is not a wrapped tool result; -1 without one.
  int64_t last_query_ = -1;
  std::vector<Segment> segments_;
};

}  // namespace

Message text_message(std::string_view role, std::string_view text) {
  Message message;
  message.role = role;
  message.content.push_back({ContentPart::Kind::kText, std::string(text)});
  return message;
}

std::vector<Segment> render_chat(std::span<const Message> messages, std::span<const std::string> tools,
                                 const ChatOptions& options) {
  return Renderer(messages, options).render(tools);
}

std::string joined(std::span<const Segment> segments) {
  std::string text;
  for (const Segment& segment : segments) {
    text += segment.text;
  }
  return text;
}

}  // namespace orfebre::text
