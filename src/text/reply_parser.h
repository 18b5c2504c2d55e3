// Splits the model's output text into reasoning, content and tool calls while it streams.
// Owns the grammar of the model's replies and its tolerances. Does not make ids for calls, nor HTTP or JSON
// bodies (server), nor stop strings (stop_matcher.h).
//
// Grammar: [reasoning] </think> content (<tool_call> <function=NAME> (<parameter=KEY> value </parameter>)*
// </function> </tool_call>)*. Whatever the chunks, the events joined are those of the whole text.
//
// Tolerated, because models do it:
// - <tool_call><function=NAME> inside an unclosed think block closes the block.
// - <function=NAME> without <tool_call>, outside the think block, if NAME is a tool of the request or if a
//   parameter or </function> follows.
// - missing </parameter>, </function> or </tool_call>; the end of the text anywhere: the call is closed with
//   valid JSON.
// - <parameter> without a name: the only parameter still missing is meant, otherwise the value is dropped.
//   A parameter given twice: the first stays. A call without a function name is no call.
// - a repeated <think> at the start; </think>, <tool_call>, </tool_call>, </function> astray outside a call;
//   a tag that the end of the text cuts: dropped.
// A value ends at </parameter> only if a further tag or the end follows, so values may contain any text.
// Line breaks around reasoning and content, and one at each side of a value, belong to the markup.
#pragma once

#include "text/tool_schemas.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orfebre::text {

struct ReplyEvent {
  enum class Kind {
    kReasoning,      // text: reasoning delta
    kContent,        // text: content delta
    kToolBegin,      // text: the function's name; never empty
    kToolArguments,  // text: delta of the arguments, JSON text; all of a call joined are one JSON object
    kToolEnd,        // complete: false if the text ended before the call did
  };
  Kind kind;
  int32_t tool_index = -1;  // 0, 1, ... of the three tool kinds
  std::string text;
  bool complete = true;
};

struct ReplyParserOptions {
  bool starts_in_think = true;  // the prompt ended with an open <think>
  bool parse_tools = true;      // false (no tools, tool_choice "none"): tool markup stays content
};

// One per reply. Input is UTF-8 in any chunks.
class ReplyParser {
 public:
  // `schemas` must outlive this object.
  ReplyParser(const ToolSchemas& schemas, const ReplyParserOptions& options);
  ~ReplyParser();
  ReplyParser(ReplyParser&&) noexcept;
  ReplyParser& operator=(ReplyParser&&) noexcept;

  std::vector<ReplyEvent> push(std::string_view text);
  // The end of the text: closes what is open. Call once.
  std::vector<ReplyEvent> finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

struct ParsedToolCall {
  std::string name;
  std::string arguments_json;
  bool complete = true;
};

struct ParsedReply {
  std::string reasoning;
  std::string content;
  std::vector<ParsedToolCall> tool_calls;
};

// The whole text at once: the events joined.
ParsedReply parse_reply(std::string_view text, const ToolSchemas& schemas, const ReplyParserOptions& options);

}  // namespace orfebre::text
