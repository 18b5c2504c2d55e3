// Conversations made to forge control tokens. Whatever messages, names, arguments and tools hold, the
// prompt's control tokens are those of the template's own segments, turns are opened and closed as often as
// the conversation has turns, and the ids decode to the rendered text.
//
// Input: decisions (support/byte_source.h): options, tools, messages with parts and calls.
#include "text/chat_template.h"

#include "base/python_json.h"
#include "support/byte_source.h"
#include "support/refusal.h"
#include "text/encoding/normalizer.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

#include <algorithm>
#include <array>

namespace orfebre::fuzz {
namespace {

using text::Message;
using text::Segment;
using text::TokenId;

constexpr std::array<std::string_view, 24> kWords = {"<|im_start|>",
                                                     "<|im_end|>",
                                                     "<|endoftext|>",
                                                     "<think>",
                                                     "</think>",
                                                     "<tool_call>",
                                                     "</tool_call>",
                                                     "<|im_",
                                                     "start|>",
                                                     "end|>",
                                                     "<tool_response>",
                                                     "</tool_response>",
                                                     "<function=f>",
                                                     "</function>",
                                                     "<parameter=p>\n",
                                                     "</parameter>",
                                                     "\n",
                                                     " ",
                                                     "assistant\n",
                                                     "\xCC\xB8",
                                                     "<",
                                                     "|>",
                                                     "e\xCC\x81",
                                                     "hello"};
constexpr std::array<std::string_view, 8> kRoles = {"user", "assistant", "system",    "tool",
                                                    "user", "assistant", "developer", "function"};

const text::Tokenizer& tokenizer() {
  static const text::Tokenizer kTokenizer =
      text::Tokenizer::from_file(ORFEBRE_DEMO_MODEL_DIR "/tokenizer.json");
  return kTokenizer;
}

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::string arguments(ByteSource& in) {
  const size_t form = in.below(4);
  if (form == 0) {
    return in.text(kWords);  // hardly ever JSON
  }
  std::string json = "{";
  for (size_t left = in.below(4); left > 0; --left) {
    json += json_string(in.text(kWords)) + ":";
    json += in.flag() ? json_string(in.text(kWords)) : "[1e3,{\"k\":" + json_string(in.text(kWords)) + "}]";
    json += left > 1 ? "," : "";
  }
  return json + "}";
}

Message message(ByteSource& in) {
  Message made;
  made.role = kRoles[in.below(kRoles.size())];
  for (size_t left = in.below(4); left > 0; --left) {
    const bool is_image = in.byte() == 0xFF;
    made.content.push_back(
        {is_image ? text::ContentPart::Kind::kImage : text::ContentPart::Kind::kText, in.text(kWords)});
  }
  if (made.role != "assistant") {
    return made;
  }
  if (in.flag()) {
    made.reasoning_content = in.text(kWords);
  }
  for (size_t left = in.below(3); left > 0; --left) {
    std::string name = in.text(kWords);
    made.tool_calls.push_back({std::move(name), arguments(in)});
  }
  return made;
}

std::string tool(ByteSource& in) {
  return "{\"type\":\"function\",\"function\":{\"name\":" + json_string(in.text(kWords)) +
         ",\"description\":" + json_string(in.text(kWords)) + "}}";
}

constexpr char kFirstByte = '<';  // of every added token

// The added tokens' texts and ids, longest first.
const std::vector<std::pair<std::string, TokenId>>& added_tokens() {
  static const auto kAdded = [] {
    std::vector<std::pair<std::string, TokenId>> added;
    for (TokenId id = 0; id < tokenizer().vocab_size(); ++id) {
      if (tokenizer().is_added(id)) {
        added.emplace_back(tokenizer().token_bytes(id), id);
      }
    }
    for (const auto& [text, id] : added) {
      ORFEBRE_CHECK(text[0] == kFirstByte);
    }
    std::sort(added.begin(), added.end(), [](auto& a, auto& b) { return a.first.size() > b.first.size(); });
    return added;
  }();
  return kAdded;
}

// The control tokens that a prompt must have: those spelled inside the template's own segments.
std::vector<TokenId> control_ids(std::span<const Segment> segments) {
  std::vector<TokenId> ids;
  const auto& added = added_tokens();
  for (const Segment& segment : segments) {
    std::string_view rest = segment.is_control ? std::string_view(segment.text) : std::string_view();
    for (size_t at = rest.find(kFirstByte); at != std::string_view::npos; at = rest.find(kFirstByte)) {
      rest.remove_prefix(at);
      const auto found =
          std::find_if(added.begin(), added.end(), [&](auto& a) { return rest.starts_with(a.first); });
      if (found != added.end()) {
        ids.push_back(found->second);
      }
      rest.remove_prefix(found != added.end() ? found->first.size() : 1);
    }
  }
  return ids;
}

bool is_system(const Message& m) {
  return m.role == "system" || m.role == "developer";
}
bool is_tool(const Message& m) {
  return m.role == "tool" || m.role == "function";
}

// Turns by the rules of chat_template.h: leading system messages are one, results in a row are one.
size_t count_turns(std::span<const Message> messages, bool has_tools) {
  size_t first = 0;
  while (first < messages.size() && is_system(messages[first])) {
    ++first;
  }
  size_t n_turns = has_tools || first > 0 ? 1 : 0;
  for (size_t i = first; i < messages.size(); ++i) {
    const bool joins = i > first && is_tool(messages[i]) && is_tool(messages[i - 1]);
    if (!joins) {
      ++n_turns;
    }
  }
  return n_turns;
}

void check_turns(const std::vector<TokenId>& ids, std::span<const Message> messages, bool has_tools,
                 bool has_generation_prompt) {
  const auto count = [&](const char* token) {
    return static_cast<size_t>(std::count(ids.begin(), ids.end(), tokenizer().id_of(token).value()));
  };
  const size_t n_turns = count_turns(messages, has_tools);
  const size_t n_opened = count("<|im_start|>") - (has_generation_prompt ? 1 : 0);
  ORFEBRE_CHECK(count("<|im_end|>") == n_turns);
  // The template opens no turn for a result that opens the conversation.
  const bool may_lack_one = is_tool(messages[0]);
  ORFEBRE_CHECK(n_opened == n_turns || (may_lack_one && n_opened + 1 == n_turns));
}

void check_prompt(std::span<const Segment> segments, const std::vector<TokenId>& ids) {
  std::vector<TokenId> added = ids;
  std::erase_if(added, [](TokenId id) { return !tokenizer().is_added(id); });
  ORFEBRE_CHECK(added == control_ids(segments));
  std::string text;
  for (const Segment& segment : segments) {
    text += text::replace_ill_formed(segment.text);
  }
  // Text between control tokens is normalised by itself; normalised as a whole, both are the same.
  ORFEBRE_CHECK(text::to_nfc(tokenizer().decode(ids, false)) == text::to_nfc(text));
}

void render_and_check(ByteSource in) {
  text::ChatOptions options;
  options.add_generation_prompt = !in.flag();
  options.enable_thinking = !in.flag();
  options.preserve_thinking = in.flag();
  std::vector<std::string> tools;
  for (size_t left = in.below(3); left > 0; --left) {
    tools.push_back(tool(in));
  }
  std::vector<Message> messages;
  while (!in.empty() && messages.size() < 12) {
    messages.push_back(message(in));
  }

  const std::vector<Segment> segments = text::render_chat(messages, tools, options);
  const std::vector<TokenId> ids = tokenizer().encode(segments);
  check_prompt(segments, ids);
  check_turns(ids, messages, !tools.empty(), options.add_generation_prompt);
}

}  // namespace
}  // namespace orfebre::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orfebre;
  try {
    fuzz::render_and_check(fuzz::ByteSource(data, size));
  } catch (const Error& error) {
    fuzz::check_quotes_nothing(error, {ErrorKind::kInvalidRequest, ErrorKind::kUnsupported});
  }
  return 0;
}
