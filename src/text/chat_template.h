// Renders a conversation as this model's chat template does: the same bytes as chat_template.jinja run by
// transformers, for every conversation that the template accepts. Pure text; ids are the tokenizer's
// business.
//
// Control tokens: the result is a list of segments. Role markers, <think> blocks, tool-call markup and the
// tools preamble are control; message text, reasoning text, function and parameter names, argument values,
// tool schemas and tool results are not. Encoded with Tokenizer::encode(segments), a message that contains
// "<|im_start|>", "<think>" or "</tool_response>" stays ordinary text and cannot forge a turn. An assistant's
// content with a literal <think>...</think> is split by the template as ever: the block is then control.
//
// Accepted although the template refuses them (many clients send them):
// - role "developer" is "system"; role "function" is "tool".
// - several system messages at the start become one, joined by a blank line;
//   a later system message is rendered in its place as a system turn.
// - no user message: every assistant turn counts as after the last query, so it keeps its <think> block;
//   a conversation that opens with a tool result opens the user turn that holds it.
// - tool-call arguments that are not a JSON object (an earlier reply went wrong) become one parameter named
//   "arguments" that holds the text.
#pragma once

#include "text/segment.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orfebre::text {

struct ContentPart {
  enum class Kind { kText, kImage, kVideo };
  Kind kind = Kind::kText;
  std::string text;  // of kText
};

struct ToolCall {
  std::string name;
  // A JSON object as raw text; empty means no arguments. Key order, big integers and floats are kept.
  std::string arguments_json;
};

struct Message {
  std::string role;                              // system, developer, user, assistant, tool, function
  std::vector<ContentPart> content;              // a plain string is one text part; empty for null
  std::optional<std::string> reasoning_content;  // assistant only
  std::vector<ToolCall> tool_calls;              // assistant only
  std::string tool_call_id;  // tool only; not rendered: results follow the order of the calls
};

struct ChatOptions {
  bool add_generation_prompt = true;
  bool enable_thinking = true;
  bool preserve_thinking = false;  // keep the <think> block of every assistant turn
};

// Convenience for the commonest message.
Message text_message(std::string_view role, std::string_view text);

// `tools` are raw JSON texts, each as the client sent it, printed as Python's json.dumps does.
// Throws Error: kInvalidRequest (no messages, unknown role, a tool that is not a JSON object),
// kUnsupported (an image or video part). Errors never quote message text.
std::vector<Segment> render_chat(std::span<const Message> messages, std::span<const std::string> tools,
                                 const ChatOptions& options);

// All segments joined: the template's bytes.
std::string joined(std::span<const Segment> segments);

}  // namespace orfebre::text
