// The model's output text. Whatever its chunks, the events joined are those of the whole text; calls open and
// close in order; their arguments are JSON objects; no tag of the markup is left in the content.
//
// Input: a byte of flags, the number of chunk sizes (below 16), the sizes, used in turn, then the text.
#include "text/reply_parser.h"

#include "base/error.h"
#include "base/python_json.h"
#include "support/byte_source.h"
#include "text/utf8.h"

#include <algorithm>
#include <array>

namespace orfebre::text {

bool operator==(const ReplyEvent& a, const ReplyEvent& b) {
  return a.kind == b.kind && a.tool_index == b.tool_index && a.text == b.text && a.complete == b.complete;
}

}  // namespace orfebre::text

namespace orfebre::fuzz {
namespace {

using text::ReplyEvent;
using text::ReplyParserOptions;
using text::ToolSchemas;
using Kind = ReplyEvent::Kind;

const ToolSchemas& schemas() {
  static const std::array<std::string, 3> kTools = {
      R"({"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{
          "s":{"type":"string"},"i":{"type":"integer"},"n":{"type":["number","null"]},"b":{"type":"boolean"},
          "o":{"type":"object"},"l":{"type":"array"},"any":{},"sn":{"anyOf":[{"type":"string"},{"type":"number"}]}},
          "required":["s","i"]}}})",
      R"({"type":"function","function":{"name":"one","parameters":{"type":"object","properties":{
          "only":{"type":"string"}},"required":["only"]}}})",
      R"({"name":"bare"})"};
  static const ToolSchemas kSchemas{kTools};
  return kSchemas;
}

const ToolSchemas& no_schemas() {
  static const ToolSchemas kNone;
  return kNone;
}

std::vector<ReplyEvent> joined(std::vector<ReplyEvent> events) {
  std::vector<ReplyEvent> out;
  for (ReplyEvent& event : events) {
    const bool has_parts = event.kind != Kind::kToolBegin && event.kind != Kind::kToolEnd;
    if (has_parts && !out.empty() && out.back().kind == event.kind &&
        out.back().tool_index == event.tool_index) {
      out.back().text += event.text;
    } else {
      out.push_back(std::move(event));
    }
  }
  return out;
}

// The events of the text in chunks of these sizes, used in turn; in one chunk when there are none. Chunks of
// whole characters, as the detokenizer's are, give events of whole characters.
std::vector<ReplyEvent> events_of(std::string_view text, const ToolSchemas& tools,
                                  const ReplyParserOptions& options, std::string_view sizes,
                                  bool whole_characters) {
  text::ReplyParser parser(tools, options);
  std::vector<ReplyEvent> all;
  const auto add = [&](const std::vector<ReplyEvent>& events) {
    for (const ReplyEvent& event : events) {
      ORFEBRE_CHECK(event.kind == Kind::kToolEnd || !event.text.empty());
      ORFEBRE_CHECK(!whole_characters || text::is_well_formed(event.text));
      all.push_back(event);
    }
  };
  size_t at = 0;
  for (size_t chunk = 0; at < text.size(); ++chunk) {
    size_t end = text.size();
    if (!sizes.empty()) {
      const auto size = static_cast<unsigned char>(sizes[chunk % sizes.size()]);
      if (size >= 128) {
        add(parser.push({}));
      }
      end = std::min(end, at + 1 + size % 64);
    }
    while (whole_characters && end < text.size() && (text[end] & 0xC0) == 0x80) {
      ++end;
    }
    add(parser.push(text.substr(at, end - at)));
    at = end;
  }
  add(parser.finish());
  return joined(std::move(all));
}

void check_order(const std::vector<ReplyEvent>& events) {
  int32_t n_calls = 0;
  bool in_call = false;
  std::string arguments;
  for (const ReplyEvent& event : events) {
    const bool is_text = event.kind == Kind::kReasoning || event.kind == Kind::kContent;
    ORFEBRE_CHECK(in_call == (!is_text && event.kind != Kind::kToolBegin));
    ORFEBRE_CHECK(event.tool_index == (is_text                          ? -1
                                       : event.kind == Kind::kToolBegin ? n_calls
                                                                        : n_calls - 1));
    if (event.kind == Kind::kToolBegin) {
      in_call = true;
      arguments.clear();
      ++n_calls;
    } else if (event.kind == Kind::kToolArguments) {
      arguments += event.text;
    } else if (event.kind == Kind::kToolEnd) {
      in_call = false;
      ORFEBRE_CHECK(parse_python_json(arguments, "arguments").is_object());
    }
  }
  ORFEBRE_CHECK(!in_call);
}

// `text` without the tags, each looked for from the left once.
std::string without_tags(std::string_view text, std::span<const std::string_view> tags) {
  std::string out;
  while (!text.empty()) {
    const auto tag = std::find_if(tags.begin(), tags.end(), [&](auto t) { return text.starts_with(t); });
    if (tag == tags.end()) {
      out += text[0];
    }
    text.remove_prefix(tag == tags.end() ? 1 : tag->size());
  }
  return out;
}

// No tag of the input comes through. What surrounds a dropped tag may happen to spell one: that is text.
void check_no_tags(const std::vector<ReplyEvent>& events, std::string_view text,
                   const ReplyParserOptions& options) {
  constexpr std::array<std::string_view, 5> kTags = {"</think>", "<tool_call>", "</tool_call>", "</function>",
                                                     "</parameter>"};
  const auto tags = std::span(kTags).first(options.parse_tools ? kTags.size() : 1);
  const std::string rest = without_tags(text, tags);
  for (const ReplyEvent& event : events) {
    if (event.kind == Kind::kReasoning) {
      ORFEBRE_CHECK(event.text.find(kTags[0]) == std::string::npos);
    }
    if (event.kind != Kind::kContent) {
      continue;
    }
    for (const std::string_view tag : tags) {
      ORFEBRE_CHECK(event.text.find(tag) == std::string::npos || rest.find(tag) != std::string::npos);
    }
  }
}

void check_no_calls(const std::vector<ReplyEvent>& events) {
  for (const ReplyEvent& event : events) {
    ORFEBRE_CHECK(event.tool_index == -1);
  }
}

}  // namespace
}  // namespace orfebre::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orfebre;
  fuzz::ByteSource in(data, size);
  const uint8_t flags = in.byte();
  const text::ReplyParserOptions options{(flags & 1) != 0, (flags & 2) == 0};
  const text::ToolSchemas& tools = (flags & 4) != 0 ? fuzz::no_schemas() : fuzz::schemas();
  const bool whole_characters = (flags & 8) == 0;
  const std::string_view sizes = in.take(in.below(16));
  const std::string text = text::replace_ill_formed(in.take_rest());

  const auto whole = fuzz::events_of(text, tools, options, {}, true);
  fuzz::check_order(whole);
  fuzz::check_no_tags(whole, text, options);
  if (!options.parse_tools) {
    fuzz::check_no_calls(whole);
  }
  ORFEBRE_CHECK(fuzz::events_of(text, tools, options, sizes, whole_characters) == whole);
  ORFEBRE_CHECK(fuzz::events_of(text, tools, options, std::string_view("\0", 1), whole_characters) == whole);
  return 0;
}
