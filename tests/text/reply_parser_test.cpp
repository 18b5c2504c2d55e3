// Replies cut anywhere, well-formed and not, read into reasoning, content and calls.
#include "text/reply_parser.h"

#include "base/error.h"
#include "base/python_json.h"
#include "text/chat_template.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace orfebre::text {
namespace {

const std::vector<std::string> kTools = {
    R"({"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{
        "city":{"type":"string"},"days":{"type":"integer"},"exact":{"type":"number"},"units":{"enum":["C","F"]},
        "flag":{"type":"boolean"},"list":{"type":"array"},"opts":{"type":"object"},"any":{},
        "maybe":{"type":["string","null"]},"count":{"anyOf":[{"type":"integer"},{"type":"null"}]},
        "ref":{"$ref":"#/$defs/n"},"nothing":{"type":"null"}},
        "required":["city","days"],"$defs":{"n":{"type":"integer"}}}}})",
    R"({"name":"write","parameters":{"type":"object","properties":{"path":{"type":"string"},"text":{"type":"string"}}}})",
    R"({"name":"ping"})"};

const ToolSchemas& schemas() {
  static const ToolSchemas all(kTools);
  return all;
}

constexpr ReplyParserOptions kThinking{.starts_in_think = true, .parse_tools = true};
constexpr ReplyParserOptions kPlain{.starts_in_think = false, .parse_tools = true};

// Reasoning, content and calls as one line, to compare at a glance.
std::string line(const ParsedReply& reply) {
  std::string out = "R[" + reply.reasoning + "]C[" + reply.content + "]";
  for (const auto& call : reply.tool_calls) {
    out += "T[" + call.name + " " + call.arguments_json + (call.complete ? "]" : " cut]");
  }
  return out;
}

std::string parse(std::string_view text, const ReplyParserOptions& options = kPlain) {
  return line(parse_reply(text, schemas(), options));
}

std::string call(std::string_view parameters, std::string_view name = "weather") {
  return "<tool_call>\n<function=" + std::string(name) + ">\n" + std::string(parameters) +
         "</function>\n</tool_call>";
}

std::string parameter(std::string_view key, std::string_view value) {
  return "<parameter=" + std::string(key) + ">\n" + std::string(value) + "\n</parameter>\n";
}

TEST(ReplyParser, SeparatesReasoningAndContent) {
  EXPECT_EQ(parse("think hard\n</think>\n\nAnswer", kThinking), "R[think hard]C[Answer]");
  EXPECT_EQ(parse("\n\nth\n\nink\n\n</think>\n\n\n  code\n\nmore \n\n", kThinking),
            "R[th\n\nink]C[  code\n\nmore ]");
  EXPECT_EQ(parse("never closed\n", kThinking), "R[never closed]C[]");
  EXPECT_EQ(parse("<think>\nagain</think>x", kThinking), "R[again]C[x]");
  EXPECT_EQ(parse("Answer"), "R[]C[Answer]");
  EXPECT_EQ(parse("<think>\n\n</think>\n\nAnswer"), "R[]C[Answer]");
  EXPECT_EQ(parse("<think>r</think>A"), "R[r]C[A]");
  EXPECT_EQ(parse("\n</think>\n\nA</think>\n\nB", kThinking), "R[]C[A\n\nB]");
  EXPECT_EQ(parse("a < b && c > d </b> <i>x</i> <", kPlain), "R[]C[a < b && c > d </b> <i>x</i> <]");
  EXPECT_EQ(parse("the <think> tag"), "R[]C[the <think> tag]");
  EXPECT_EQ(parse(""), "R[]C[]");
  EXPECT_EQ(parse("", kThinking), "R[]C[]");
}

TEST(ReplyParser, ReadsCalls) {
  EXPECT_EQ(
      parse("r\n</think>\n\nLet me see.\n\n" + call(parameter("city", "Paris") + parameter("days", "3")),
            kThinking),
      R"(R[r]C[Let me see.]T[weather {"city": "Paris", "days": 3}])");
  EXPECT_EQ(parse(call(parameter("days", "3") + parameter("city", "Paris"))),
            R"(R[]C[]T[weather {"days": 3, "city": "Paris"}])");
  EXPECT_EQ(parse(call("", "ping") + "\n" + call(parameter("path", "a"), "write")),
            R"(R[]C[]T[ping {}]T[write {"path": "a"}])");
  EXPECT_EQ(parse(call("", "ping") + call("", "ping")), R"(R[]C[]T[ping {}]T[ping {}])");
  EXPECT_EQ(parse("A" + call("", "ping") + "\nB"), "R[]C[A\n\nB]T[ping {}]");
  EXPECT_EQ(parse(call("", "unknown_tool")), "R[]C[]T[unknown_tool {}]");
}

TEST(ReplyParser, ConvertsBySchema) {
  const auto value = [](std::string_view key, std::string_view text) {
    const std::string reply = parse(call(parameter(key, text)));
    const std::string before = "R[]C[]T[weather {\"" + std::string(key) + "\": ";
    EXPECT_TRUE(reply.starts_with(before)) << reply;
    return reply.substr(before.size(), reply.size() - before.size() - 2);
  };
  EXPECT_EQ(value("city", "3"), R"("3")");
  EXPECT_EQ(value("city", "true"), R"("true")");
  EXPECT_EQ(value("city", "null"), R"("null")");
  EXPECT_EQ(value("city", ""), R"("")");
  EXPECT_EQ(value("city", "\na\n\nb\n"), R"("\na\n\nb\n")");
  EXPECT_EQ(value("city", "\"q\" \\ \t\x01"), R"("\"q\" \\ \t\u0001")");
  EXPECT_EQ(value("undeclared", "3"), R"("3")");
  EXPECT_EQ(value("days", "3"), "3");
  EXPECT_EQ(value("days", " 3 "), "3");
  EXPECT_EQ(value("days", "3.0"), "3");
  EXPECT_EQ(value("days", "-3.00"), "-3");
  EXPECT_EQ(value("days", "1e3"), "1000");
  EXPECT_EQ(value("days", "3.5"), "3.5");
  EXPECT_EQ(value("days", "123456789012345678901234567890"), "123456789012345678901234567890");
  EXPECT_EQ(value("days", "three"), R"("three")");
  EXPECT_EQ(value("days", "007"), R"("007")");
  EXPECT_EQ(value("days", "null"), "null");
  EXPECT_EQ(value("days", "None"), "null");
  EXPECT_EQ(value("days", ""), R"("")");
  EXPECT_EQ(value("ref", "4.0"), "4");
  EXPECT_EQ(value("exact", "3.0"), "3.0");
  EXPECT_EQ(value("exact", "-1.5e-7"), "-1.5e-7");
  EXPECT_EQ(value("exact", "NaN"), R"("NaN")");
  EXPECT_EQ(value("flag", "True"), "true");
  EXPECT_EQ(value("flag", "false"), "false");
  EXPECT_EQ(value("flag", "yes"), R"("yes")");
  EXPECT_EQ(value("list", "[1,\n 2]"), "[1, 2]");
  EXPECT_EQ(value("list", "[1, 2"), R"("[1, 2")");
  EXPECT_EQ(value("opts", R"({"b":{"c":1e2},"a":"x"})"), R"({"b": {"c": 1e2}, "a": "x"})");
  EXPECT_EQ(value("opts", "{'a': 1}"), R"("{'a': 1}")");
  EXPECT_EQ(value("nothing", "null"), "null");
  EXPECT_EQ(value("units", "C"), R"("C")");
  EXPECT_EQ(value("maybe", "null"), "null");
  EXPECT_EQ(value("maybe", "5"), R"("5")");
  EXPECT_EQ(value("count", "null"), "null");
  EXPECT_EQ(value("count", "2.0"), "2");
  EXPECT_EQ(value("any", "[true]"), "[true]");
  EXPECT_EQ(value("any", "5"), "5");
  EXPECT_EQ(value("any", "word"), R"("word")");
  EXPECT_EQ(value("any", "\"quoted\""), R"("\"quoted\"")");
}

TEST(ToolSchemas, CircularSchemasEnd) {
  std::string branches;
  for (int i = 0; i < 20; ++i) {
    branches += R"({"$ref":"#/$defs/a"},)";
  }
  const std::vector<std::string> tools = {
      R"({"name":"f","parameters":{"properties":{"x":{"$ref":"#/$defs/a"}},"$defs":{"a":{"anyOf":[)" +
      branches + R"({"type":"integer"}]}}}})"};
  const ToolSchemas all(tools);
  EXPECT_EQ(all.to_json("f", "x", "5"), "5");
}

TEST(ToolSchemas, ManyReferencesIntoOneLargeNodeEnd) {
  // Followed in full, these would take n * n comparisons.
  constexpr int kParameters = 20'000;
  std::string properties, definitions, required;
  for (int i = 0; i < kParameters; ++i) {
    const std::string number = std::to_string(i), comma = i == 0 ? "" : ",";
    properties += comma + "\"p" + number + R"(":{"$ref":"#/$defs/d)" + number + "\"}";
    definitions += comma + "\"d" + number + R"(":{"type":"integer"})";
    required += comma + "\"p" + number + "\"";
  }
  const std::string tool = R"({"name":"f","parameters":{"properties":{)" + properties + R"(},"$defs":{)" +
                           definitions + R"(},"required":[)" + required + "]}}";
  const ToolSchemas schemas(std::span(&tool, 1));
  // The first references are followed; the last parameters are of any type.
  EXPECT_EQ(schemas.to_json("f", "p0", "None"), "null");
  EXPECT_EQ(schemas.to_json("f", "p19999", "None"), "\"None\"");
  EXPECT_EQ(schemas.only_missing("f", {}), "");
}

TEST(ToolSchemas, IgnoresWhatIsNoFunction) {
  const std::vector<std::string> tools = {
      R"({"type":"web_search"})",         R"({"type":"function","function":{"name":7}})",  "[]", "3",
      R"({"name":"g","parameters":[1]})", R"({"name":"h","parameters":{"properties":[]}})"};
  const ToolSchemas all(tools);
  EXPECT_TRUE(all.knows("g"));
  EXPECT_TRUE(all.knows("h"));
  EXPECT_FALSE(all.knows("web_search"));
  EXPECT_TRUE(ToolSchemas().empty());
  const std::vector<std::string> broken = {"{"};
  EXPECT_THROW(ToolSchemas{broken}, Error);
}

TEST(ReplyParser, ValuesMayHoldMarkup) {
  for (const std::string& text : std::vector<std::string>{
           "a < b > c", "x </function> y", "x\n</function>\ny", "</tool_call> then",
           "<tool_call> <function=f>", "<parameter=k>", "</parameter> inline",
           "<parameters>\n  <parameter>1</parameter>\n  <parameter>2</parameter>\n</parameters>", "</think>",
           "<", "</", "</param", "\n\n</function>\n</tool_call>\nrest", "<|im_end|>"}) {
    std::string expected = "R[]C[]T[write {\"text\": ";
    append_json_string(expected, text);
    EXPECT_EQ(parse(call(parameter("text", text), "write")), expected + "}]");
  }
}

TEST(ReplyParser, ToleratesWhatModelsDo) {
  const std::string paris = parameter("city", "Paris");
  const std::string good = R"(T[weather {"city": "Paris"}])";
  const std::string cut = R"(T[weather {"city": "Paris"} cut])";
  // A call inside the think block.
  EXPECT_EQ(parse("I will call.\n" + call(paris), kThinking), "R[I will call.]C[]" + good);
  EXPECT_EQ(parse("I will call.\n" + call(paris) + "\n</think>\n\nDone", kThinking),
            "R[I will call.]C[Done]" + good);
  EXPECT_EQ(parse("write <tool_call> then <function=f>", kThinking),
            "R[write <tool_call> then <function=f>]C[]");
  // Openers and closers missing.
  EXPECT_EQ(parse("<function=weather>\n" + paris + "</function>\n</tool_call>"), "R[]C[]" + good);
  EXPECT_EQ(parse("<function=weather>\n" + paris + "</function>"), "R[]C[]" + good);
  EXPECT_EQ(parse("<function=other>\n<parameter=a>\n1\n</parameter>\n</function>"),
            R"(R[]C[]T[other {"a": "1"}])");
  EXPECT_EQ(parse("use <function=other> in prose"), "R[]C[use <function=other> in prose]");
  EXPECT_EQ(parse("<tool_call>\n<function=weather>\n" + paris + "</tool_call>"), "R[]C[]" + good);
  EXPECT_EQ(parse("<tool_call>\n<function=weather>\n" + paris), "R[]C[]" + cut);
  EXPECT_EQ(parse("<tool_call>\n<function=weather>\n<parameter=city>\nParis\n</parameter>"), "R[]C[]" + cut);
  EXPECT_EQ(parse("<tool_call>\n<function=weather>\n<parameter=city>\nParis\n</param"), "R[]C[]" + cut);
  EXPECT_EQ(parse("<tool_call>\n<function=weather>\n<parameter=city>\nParis"), "R[]C[]" + cut);
  EXPECT_EQ(parse("<tool_call>\n<function=weather>\n<parameter=city>\nParis\n</function>\n</tool_call>"),
            "R[]C[]" + good);
  EXPECT_EQ(parse("<tool_call>\n<function=weather>\n<parameter=city>\nParis\n</function>"), "R[]C[]" + good);
  EXPECT_EQ(parse("<tool_call>\n<function=weather>\n<parameter=city>\nParis\n</function>\n</tool_call>\n" +
                  call("", "ping")),
            "R[]C[]" + good + "T[ping {}]");
  EXPECT_EQ(parse("<tool_call>\n<function=weather>\n<parameter=days>\n[1"),
            R"(R[]C[]T[weather {"days": "[1"} cut])");
  EXPECT_EQ(parse("<tool_call>\n<function=weather>\n<parameter=ci"), "R[]C[]T[weather {} cut]");
  EXPECT_EQ(parse("<tool_call>\n<function=weather>\n" + paris +
                  "<tool_call>\n<function=ping>\n</function>\n</tool_call>"),
            "R[]C[]" + good + "T[ping {}]");
  EXPECT_EQ(parse("<tool_call>\n<function=weather>\n" + paris +
                  "</function>\n<function=ping>\n</function>\n</tool_call>"),
            "R[]C[]" + good + "T[ping {}]");
  // No space, more space, no '>'.
  EXPECT_EQ(parse("<tool_call><function=weather><parameter=city>Paris</parameter></function></tool_call>"),
            "R[]C[]" + good);
  EXPECT_EQ(parse("<tool_call>\n\n <function=weather>\n\n  "
                  "<parameter=city>\nParis\n</parameter>\n\n</function> \n</tool_call>\n\n"),
            "R[]C[]" + good);
  EXPECT_EQ(
      parse(
          "<tool_call>\n<function=weather\n<parameter=city\nParis\n</parameter>\n</function>\n</tool_call>"),
      "R[]C[]" + good);
  EXPECT_EQ(parse(call("text between\n" + paris + "and after\n")),
            "R[]C[]T[weather {\"city\": \"Paris\\n</parameter>\\nand after\"}]");
  EXPECT_EQ(parse(call("text between\n" + paris)), "R[]C[]" + good);
  // Names missing, unknown or given twice.
  EXPECT_EQ(parse(call(paris + "<parameter>\n2\n</parameter>\n")),
            R"(R[]C[]T[weather {"city": "Paris", "days": 2}])");
  EXPECT_EQ(parse(call(paris + "<parameter=>\n2\n</parameter>\n")),
            R"(R[]C[]T[weather {"city": "Paris", "days": 2}])");
  EXPECT_EQ(parse(call("<parameter=>\n2\n</parameter>\n")), "R[]C[]T[weather {}]");
  EXPECT_EQ(parse(call(paris + parameter("city", "Rome"))), "R[]C[]" + good);
  EXPECT_EQ(parse(call("<parameter=\"city\">\nParis\n</parameter>\n")), "R[]C[]" + good);
  // No call at all.
  EXPECT_EQ(parse("Hm.\n<tool_call>\n</tool_call>"), "R[]C[Hm.]");
  EXPECT_EQ(parse("<tool_call>"), "R[]C[]");
  EXPECT_EQ(parse("A<tool_call>\n<func"), "R[]C[A]");
  EXPECT_EQ(parse("A<tool_call>\n<function=weat"), "R[]C[A]");
  EXPECT_EQ(parse(call(paris, "") + "B"), "R[]C[B]");
  EXPECT_EQ(parse("A</function>\n</tool_call>"), "R[]C[A]");
  EXPECT_EQ(parse(call("", "ping") + "</tool_c"), "R[]C[]T[ping {}]");
}

TEST(ReplyParser, WithoutToolsTheMarkupIsText) {
  const std::string text = call(parameter("city", "x"));
  EXPECT_EQ(parse(text, {.starts_in_think = false, .parse_tools = false}), "R[]C[" + text + "]");
  EXPECT_EQ(parse("a" + text + "</think>b", {.starts_in_think = true, .parse_tools = false}),
            "R[a" + text + "]C[b]");
}

TEST(ReplyParser, StringsStreamWhileTheyCome) {
  ReplyParser parser(schemas(), kPlain);
  parser.push("<tool_call>\n<function=write>\n<parameter=text>\n");
  size_t n_with_text = 0;
  for (int i = 0; i < 1000; ++i) {
    for (const auto& event : parser.push("some words ")) {
      n_with_text += event.kind == ReplyEvent::Kind::kToolArguments;
    }
  }
  EXPECT_EQ(n_with_text, 1000u);
}

// Joins the events of a reply that arrives in the given chunks; also checks the events' order.
ParsedReply stream(std::string_view text, const std::vector<size_t>& cuts,
                   const ReplyParserOptions& options) {
  ParsedReply reply;
  ReplyParser parser(schemas(), options);
  bool open = false;
  const auto take = [&](const std::vector<ReplyEvent>& events) {
    for (const ReplyEvent& event : events) {
      EXPECT_TRUE(!event.text.empty() || event.kind == ReplyEvent::Kind::kToolEnd);
      switch (event.kind) {
        case ReplyEvent::Kind::kReasoning:
        case ReplyEvent::Kind::kContent:
          EXPECT_FALSE(open);
          (event.kind == ReplyEvent::Kind::kContent ? reply.content : reply.reasoning) += event.text;
          break;
        case ReplyEvent::Kind::kToolBegin:
          EXPECT_FALSE(open);
          open = true;
          EXPECT_EQ(event.tool_index, static_cast<int32_t>(reply.tool_calls.size()));
          reply.tool_calls.push_back({event.text, {}, true});
          break;
        case ReplyEvent::Kind::kToolArguments:
          EXPECT_TRUE(open);
          EXPECT_EQ(event.tool_index + 1, static_cast<int32_t>(reply.tool_calls.size()));
          reply.tool_calls.back().arguments_json += event.text;
          break;
        case ReplyEvent::Kind::kToolEnd:
          EXPECT_TRUE(open);
          open = false;
          reply.tool_calls.back().complete = event.complete;
          break;
      }
    }
  };
  size_t from = 0;
  for (const size_t cut : cuts) {
    take(parser.push(text.substr(from, cut - from)));
    from = cut;
  }
  take(parser.push(text.substr(from)));
  take(parser.finish());
  EXPECT_FALSE(open);
  return reply;
}

void expect_valid_arguments(const ParsedReply& reply) {
  for (const auto& call : reply.tool_calls) {
    EXPECT_FALSE(call.name.empty());
    const PyJson arguments = parse_python_json(call.arguments_json, "arguments");
    EXPECT_TRUE(arguments.is_object());
  }
}

// Soup of markup and text: the result never depends on the chunks, and arguments are always JSON.
TEST(ReplyParser, ChunksDoNotMatter) {
  const std::vector<std::string> pieces = {"<think>",
                                           "</think>",
                                           "<tool_call>",
                                           "</tool_call>",
                                           "<function=",
                                           "weather",
                                           "write",
                                           ">",
                                           "</function>",
                                           "<parameter=",
                                           "city",
                                           "days",
                                           "</parameter>",
                                           "\n",
                                           "\n\n",
                                           " ",
                                           "<",
                                           "</",
                                           "text",
                                           "3",
                                           "[1]",
                                           "<parameter>",
                                           "<function>",
                                           "=",
                                           "é",
                                           "\"",
                                           "\\",
                                           "<tool_call>\n<function=weather>\n",
                                           "<parameter=city>\nx\n</parameter>\n",
                                           "</function>\n</tool_call>",
                                           "<parameter=list>\n",
                                           "\r\n"};
  std::mt19937 random(1);
  const auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  size_t n_calls = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (size_t n = below(24); n > 0; --n) {
      text += pieces[below(pieces.size())];
    }
    const ReplyParserOptions options{.starts_in_think = below(2) == 0, .parse_tools = below(8) != 0};
    const ParsedReply whole = parse_reply(text, schemas(), options);
    n_calls += whole.tool_calls.size();
    expect_valid_arguments(whole);
    std::vector<size_t> every_byte, some;
    for (size_t i = 1; i < text.size(); ++i) {
      every_byte.push_back(i);
      if (below(4) == 0) {
        some.push_back(i);
      }
    }
    ASSERT_EQ(line(stream(text, every_byte, options)), line(whole)) << text;
    ASSERT_EQ(line(stream(text, some, options)), line(whole)) << text;
  }
  EXPECT_GT(n_calls, 5000u);
}

// What the template writes for a turn, the parser reads back.
TEST(ReplyParser, ReadsBackWhatTheTemplateWrites) {
  const std::vector<std::string> texts = {"",
                                          "x",
                                          "two\n\nlines",
                                          "a < b",
                                          "</function>",
                                          "ends\n",
                                          "\nbegins",
                                          "</parameter> in a line",
                                          "é \"q\" \\",
                                          "<tool_call>",
                                          "if (a</b) {}\n",
                                          "<function=ping>"};
  std::mt19937 random(2);
  const auto text = [&] { return texts[std::uniform_int_distribution<size_t>(0, texts.size() - 1)(random)]; };
  for (int round = 0; round < 3000; ++round) {
    Message turn;
    turn.role = "assistant";
    turn.reasoning_content = "because";
    const std::string content = round % 2 == 0 ? "Text." : "";
    turn.content = {{ContentPart::Kind::kText, content}};
    std::string expected = "R[because]C[" + content + "]";
    for (int c = 0; c < round % 4; ++c) {
      std::string arguments = "{\"path\": ";
      append_json_string(arguments, text());
      arguments += ", \"text\": ";
      append_json_string(arguments, text());
      arguments += "}";
      turn.tool_calls.push_back({"write", arguments});
      expected += "T[write " + arguments + "]";
    }
    const std::vector<Message> messages = {text_message("user", "q"), turn};
    std::string reply = joined(render_chat(messages, {}, {.add_generation_prompt = false}));
    const std::string opening = "<|im_start|>assistant\n<think>\n", closing = "<|im_end|>\n";
    reply.erase(0, reply.find(opening) + opening.size());
    reply.resize(reply.size() - closing.size());
    ASSERT_EQ(parse(reply, kThinking), expected);
  }
}

TEST(ReplyParser, LongRepliesTakeLinearTime) {
  // A quadratic parser would need hours for these.
  std::string many_tags, value = "<tool_call>\n<function=weather>\n<parameter=list>\n";
  for (int i = 0; i < 100'000; ++i) {
    many_tags += "<</thin<tool_";
    value += "</parameter <";
  }
  for (const std::string& text : {many_tags, value, value + std::string(1'000'000, '\n'),
                                  std::string(1'000'000, '<'), "x" + std::string(1'000'000, '\n') + "y"}) {
    std::vector<size_t> cuts;
    for (size_t i = 7; i < text.size(); i += 7) {
      cuts.push_back(i);
    }
    const ParsedReply reply = stream(text, cuts, kPlain);
    EXPECT_GT(reply.content.size() + reply.tool_calls.size(), 0u);
  }
}

}  // namespace
}  // namespace orfebre::text
