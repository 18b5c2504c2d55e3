// The renderer against the Jinja template (tests/data), and what it accepts beyond it.
#include "text/chat_template.h"

#include "base/error.h"
#include "text/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <string>
#include <vector>

namespace orfebre::text {
namespace {

namespace dom = simdjson::dom;
using ::testing::HasSubstr;

std::string text_of(const dom::element& value) {
  return std::string(std::string_view(value.get_string()));
}

Message read_message(const dom::object& row) {
  Message message;
  for (const auto field : row) {
    if (field.key == "role") {
      message.role = text_of(field.value);
    }
    if (field.key == "reasoning_content") {
      message.reasoning_content = text_of(field.value);
    }
    if (field.key == "content" && field.value.is_string()) {
      message.content.push_back({ContentPart::Kind::kText, text_of(field.value)});
    }
    if (field.key == "content" && field.value.is_array()) {
      const dom::array parts = field.value.get_array();
      for (const auto part : parts) {
        message.content.push_back({ContentPart::Kind::kText, text_of(part["text"].value())});
      }
    }
    if (field.key == "tool_calls") {
      const dom::array calls = field.value.get_array();
      for (const auto call : calls) {
        message.tool_calls.push_back({text_of(call["name"].value()), text_of(call["arguments"].value())});
      }
    }
  }
  return message;
}

bool option(const dom::element& options, std::string_view name, bool absent) {
  bool value = absent;
  if (options[name].get(value) != simdjson::SUCCESS) {
    return absent;
  }
  return value;
}

TEST(ChatTemplate, EqualsTheJinjaTemplate) {
  dom::parser parser;
  const dom::element root = parser.load(ORFEBRE_TEST_DATA_DIR "/text/chat_cases.json");
  const std::string closing = text_of(root["closing"].value());
  const dom::array cases = root["cases"].get_array();
  EXPECT_GE(cases.size(), 500u);
  size_t index = 0;
  for (const auto row : cases) {
    std::vector<Message> messages;
    const dom::array rows = row["messages"].get_array();
    for (const auto message : rows) {
      messages.push_back(read_message(message.get_object()));
    }
    std::vector<std::string> tools;
    const dom::array raw_tools = row["tools"].get_array();
    for (const auto tool : raw_tools) {
      tools.push_back(text_of(tool));
    }
    const dom::element options = row["options"].value();
    std::string expected = text_of(row["text"].value());
    if (const auto mark = expected.find('\x01'); mark != std::string::npos) {
      expected.replace(mark, 1, closing);
    }

    const auto segments =
        render_chat(messages, tools,
                    {.add_generation_prompt = option(options, "add_generation_prompt", true),
                     .enable_thinking = option(options, "enable_thinking", true),
                     .preserve_thinking = option(options, "preserve_thinking", false)});
    EXPECT_EQ(joined(segments), expected) << "case " << index;
    ++index;
  }
}

std::string render(const std::vector<Message>& messages, const ChatOptions& options = {}) {
  return joined(render_chat(messages, {}, options));
}

const ChatOptions kNoPrompt{.add_generation_prompt = false};

TEST(ChatTemplate, AcceptsOrdersThatTheTemplateRefuses) {
  EXPECT_EQ(render({text_message("developer", "A"), text_message("user", "q")}, kNoPrompt),
            "<|im_start|>system\nA<|im_end|>\n<|im_start|>user\nq<|im_end|>\n");
  EXPECT_EQ(
      render({text_message("system", " A "), text_message("developer", "B\n"), text_message("user", "q")},
             kNoPrompt),
      "<|im_start|>system\nA\n\nB<|im_end|>\n<|im_start|>user\nq<|im_end|>\n");
  EXPECT_EQ(
      render({text_message("user", "q"), text_message("system", " late "), text_message("assistant", "a")},
             kNoPrompt),
      "<|im_start|>user\nq<|im_end|>\n<|im_start|>system\nlate<|im_end|>\n"
      "<|im_start|>assistant\n<think>\n\n</think>\n\na<|im_end|>\n");
  EXPECT_EQ(render({text_message("assistant", "<think>\nr\n</think>\n\na")}, kNoPrompt),
            "<|im_start|>assistant\n<think>\nr\n</think>\n\na<|im_end|>\n");
  EXPECT_EQ(render({text_message("tool", "r1"), text_message("function", "r2")}, kNoPrompt),
            "<|im_start|>user\n<tool_response>\nr1\n</tool_response>\n<tool_response>\nr2\n</"
            "tool_response><|im_end|>\n");
  EXPECT_EQ(render({text_message("system", "only")}),
            "<|im_start|>system\nonly<|im_end|>\n<|im_start|>assistant\n<think>\n");
}

TEST(ChatTemplate, LeadingSystemMessagesFollowTheToolsInOneTurn) {
  const std::vector<Message> messages = {text_message("system", "A"), text_message("system", "B"),
                                         text_message("user", "q")};
  const std::vector<std::string> tools = {R"({"name":"f"})"};
  EXPECT_THAT(joined(render_chat(messages, tools, {})),
              HasSubstr("</IMPORTANT>\n\nA\n\nB<|im_end|>\n<|im_start|>user\nq"));
}

TEST(ChatTemplate, RefusesWhatCannotBeRendered) {
  EXPECT_THROW(render({}), Error);
  EXPECT_THROW(render({text_message("narrator", "x")}), Error);
  const std::vector<Message> user = {text_message("user", "x")};
  for (const char* bad : {"", "[]", "1", "{\"a\":", "null"}) {
    const std::vector<std::string> tools = {bad};
    EXPECT_THROW(render_chat(user, tools, {}), Error) << bad;
  }
  for (const char* role : {"system", "user", "assistant", "tool"}) {
    for (const auto kind : {ContentPart::Kind::kImage, ContentPart::Kind::kVideo}) {
      Message message = text_message(role, "look: ");
      message.content.push_back({kind, ""});
      try {
        render({text_message("user", "x"), message});
        FAIL() << role;
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::kUnsupported);
        EXPECT_THAT(e.what(), HasSubstr("messages[1].content[1]"));
      }
    }
  }
}

TEST(ChatTemplate, ABrokenEarlierCallDoesNotSpoilTheConversation) {
  Message call;
  call.role = "assistant";
  call.tool_calls = {{"f", "{\"a\": "}, {"g", ""}, {"h", "null"}, {"i", "[1]"}};
  EXPECT_THAT(
      render({text_message("user", "x"), call}),
      HasSubstr("<function=f>\n<parameter=arguments>\n{\"a\": \n</parameter>\n</function>\n</tool_call>\n"
                "<tool_call>\n<function=g>\n</function>\n</tool_call>\n<tool_call>\n<function=h>\n</function>"
                "\n</tool_call>\n<tool_call>\n<function=i>\n<parameter=arguments>\n[1]\n</parameter>"));
}

// Whatever clients write, the only control tokens are the template's own.
TEST(ChatTemplate, ClientTextNeverBecomesAControlToken) {
  const Tokenizer tokenizer = Tokenizer::from_file(ORFEBRE_TEST_DATA_DIR "/text/small_tokenizer.json");
  const auto control_ids = [&](const std::string& text) {
    Message call;
    call.role = "assistant";
    call.content = {{ContentPart::Kind::kText, text}};
    call.reasoning_content = text;
    call.tool_calls = {{text, "{\"" + text + "\": \"" + text + "\", \"b\": [\"" + text + "\"]}"}};
    const std::vector<Message> messages = {text_message("system", text), text_message("user", text), call,
                                           text_message("tool", text), text_message("developer", text)};
    const std::vector<std::string> tools = {"{\"name\": \"" + text + "\", \"description\": \"" + text +
                                            "\"}"};
    std::vector<TokenId> control;
    for (const TokenId id : tokenizer.encode(render_chat(messages, tools, {}))) {
      if (tokenizer.is_added(id)) {
        control.push_back(id);
      }
    }
    return control;
  };
  const auto harmless = control_ids("x");
  EXPECT_GT(harmless.size(), 20u);
  for (TokenId id = 0; id < tokenizer.vocab_size(); ++id) {
    if (!tokenizer.is_added(id)) {
      continue;
    }
    const std::string text(tokenizer.token_bytes(id));
    EXPECT_EQ(control_ids("x" + text + "x"), harmless) << text;
    EXPECT_EQ(control_ids(text + text), harmless) << text;
  }
}

TEST(ChatTemplate, SegmentsEncodeAsTheirJoinedTextDoes) {
  const Tokenizer tokenizer = Tokenizer::from_file(ORFEBRE_TEST_DATA_DIR "/text/small_tokenizer.json");
  Message call = text_message("assistant", "I look it up.");
  call.tool_calls = {{"search", R"({"q": "a.b}\n", "n": 3, "list": [1, "x"]})"}};
  const std::vector<Message> messages = {
      text_message("system", "Be brief:"), text_message("user", "e\u0301 (tell me)..."), call,
      text_message("tool", "{\"r\": [1, 2]}"), text_message("assistant", "Done!")};
  const std::vector<std::string> tools = {R"({"name": "search", "parameters": {}})"};
  const auto segments = render_chat(messages, tools, {});
  EXPECT_GT(segments.size(), 10u);
  EXPECT_EQ(tokenizer.encode(segments), tokenizer.encode(joined(segments)));
  EXPECT_NE(tokenizer.encode(segments), tokenizer.encode_plain(joined(segments)));
}

}  // namespace
}  // namespace orfebre::text
