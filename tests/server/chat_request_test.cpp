// Requests as clients send them, right and wrong.
#include "server/api/chat_request.h"

#include "server/api/api_error.h"

#include <gtest/gtest.h>

namespace orfebre::api {
namespace {

// A body with one user message and `fields` before it.
std::string with(const std::string& fields) {
  return "{" + fields + (fields.empty() ? "" : ",") + R"("messages":[{"role":"user","content":"SECRET"}]})";
}

ChatRequest parse(const std::string& fields) {
  return parse_chat_request(with(fields));
}

struct Refusal {
  ErrorKind kind = ErrorKind::kInternal;
  std::string param;
  std::string text;
};

// How the body is refused; fails the test if it is not.
Refusal refusal(const std::string& body) {
  try {
    parse_chat_request(body);
  } catch (const ApiError& error) {
    return {error.kind(), error.param(), error.what()};
  } catch (const Error& error) {
    return {error.kind(), "", error.what()};
  }
  ADD_FAILURE() << "accepted: " << body.substr(0, 200);
  return {};
}

TEST(ChatRequest, ReadsEveryField) {
  const ChatRequest chat = parse(
      R"("model":"any","stream":true,"stream_options":{"include_usage":true},"max_tokens":7,"temperature":0.5,
         "top_p":0.25,"top_k":5,"min_p":0.125,"presence_penalty":-1,"frequency_penalty":2,
         "repetition_penalty":1.5,"seed":42,"stop":["a","","b"],"logit_bias":{"3":-100,"4":1.5},
         "logprobs":true,"top_logprobs":4,"enable_thinking":false,"preserve_thinking":true)");
  EXPECT_EQ(chat.model, "any");
  EXPECT_TRUE(chat.stream);
  EXPECT_TRUE(chat.include_usage);
  EXPECT_EQ(chat.max_tokens, 7);
  EXPECT_EQ(chat.sampling.temperature, 0.5f);
  EXPECT_EQ(chat.sampling.top_p, 0.25f);
  EXPECT_EQ(chat.sampling.top_k, 5);
  EXPECT_EQ(chat.sampling.min_p, 0.125f);
  EXPECT_EQ(chat.sampling.presence_penalty, -1.0f);
  EXPECT_EQ(chat.sampling.frequency_penalty, 2.0f);
  EXPECT_EQ(chat.sampling.repetition_penalty, 1.5f);
  EXPECT_EQ(chat.sampling.seed, 42u);
  EXPECT_EQ(chat.stop, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(chat.sampling.logit_bias, (std::vector<std::pair<int32_t, float>>{{3, -100.0f}, {4, 1.5f}}));
  EXPECT_EQ(chat.n_top_logprobs, 4);
  EXPECT_EQ(chat.thinking.enabled, false);
  EXPECT_TRUE(chat.preserve_thinking);
}

TEST(ChatRequest, LeavesOutWhatTheClientLeavesOut) {
  for (const char* fields :
       {"", R"("stream":null,"max_tokens":null,"temperature":null,"stop":null,"tools":null,"tool_choice":null,
              "logit_bias":null,"seed":null,"n":null,"response_format":null,"logprobs":null)"}) {
    const ChatRequest chat = parse(fields);
    EXPECT_FALSE(chat.stream);
    EXPECT_EQ(chat.max_tokens, 0);
    EXPECT_FALSE(chat.sampling.temperature || chat.sampling.top_k || chat.sampling.seed);
    EXPECT_EQ(chat.n_top_logprobs, -1);
    EXPECT_FALSE(chat.thinking.enabled);
  }
}

TEST(ChatRequest, IgnoresHarmlessFields) {
  parse(R"("user":"u","store":false,"metadata":{"a":[1]},"service_tier":"auto","parallel_tool_calls":true,
          "n":1,"response_format":{"type":"text"},"tool_choice":"auto","functions":[],"x":1e999)");
}

TEST(ChatRequest, ReadsLimits) {
  EXPECT_EQ(parse(R"("max_completion_tokens":5,"max_tokens":9)").max_tokens, 5);
  EXPECT_EQ(parse(R"("max_tokens":-1)").max_tokens, 0);
  EXPECT_EQ(parse(R"("max_tokens":100.0)").max_tokens, 100);
  EXPECT_EQ(parse(R"("max_tokens":123456789012345)").max_tokens, 2147483647);
}

TEST(ChatRequest, ReadsAnySeed) {
  EXPECT_EQ(parse(R"("seed":-1)").sampling.seed, ~uint64_t{0});
  EXPECT_EQ(parse(R"("seed":18446744073709551615)").sampling.seed, ~uint64_t{0});
  EXPECT_EQ(refusal(with(R"("seed":18446744073709551616)")).param, "seed");
  EXPECT_EQ(refusal(with(R"("seed":1.5)")).param, "seed");
  EXPECT_EQ(refusal(with(R"("seed":"1")")).param, "seed");
}

TEST(ChatRequest, HearsEveryWayToAskForThinking) {
  struct Case {
    const char* fields;
    std::optional<bool> enabled;
    std::optional<int> budget;
  };
  const Case cases[] = {
      {R"("chat_template_kwargs":{"enable_thinking":false},"enable_thinking":true)", false, {}},
      {R"("chat_template_kwargs":{"thinking":false})", false, {}},
      {R"("chat_template_kwargs":{"thinking_budget":9})", {}, 9},
      {R"("chat_template_kwargs":{"other":1})", {}, {}},
      {R"("enable_thinking":false,"reasoning_effort":"high")", false, {}},
      {R"("reasoning_effort":"none")", false, {}},
      {R"("reasoning_effort":"minimal")", false, {}},
      {R"("reasoning_effort":"low")", true, kLowEffort},
      {R"("reasoning_effort":"medium")", true, kMediumEffort},
      {R"("reasoning_effort":"high")", true, {}},
      {R"("reasoning_effort":"xhigh")", true, {}},
      {R"("reasoning":{"effort":"none"})", false, {}},
      {R"("reasoning":{"enabled":false})", false, {}},
      {R"("reasoning":{"enabled":true,"max_tokens":70})", true, 70},
      {R"("reasoning":{"effort":"low","max_tokens":70})", true, 70},
      {R"("thinking":{"type":"disabled"})", false, {}},
      {R"("thinking":{"type":"enabled","budget_tokens":5})", true, 5},
      {R"("thinking":{"type":"adaptive"},"reasoning_effort":"low")", true, kLowEffort},
      {R"("thinking":false)", false, {}},
      {R"("think":false)", false, {}},
      {R"("think":"low")", true, kLowEffort},
      {R"("thinking_budget":12,"reasoning_effort":"medium")", true, 12},
      {R"("reasoning_budget":0)", {}, 0},
      {R"("reasoning_budget":-1)", {}, {}},
      {R"("temperature":1)", {}, {}},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(parse(one.fields).thinking.enabled, one.enabled) << one.fields;
    EXPECT_EQ(parse(one.fields).thinking.budget_tokens, one.budget) << one.fields;
  }
}

TEST(ChatRequest, RefusesWrongValuesByName) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("temperature":-0.1)", "temperature"},
      {R"("temperature":2.5)", "temperature"},
      {R"("temperature":1e999)", "temperature"},
      {R"("temperature":-1e999)", "temperature"},
      {R"("temperature":"1")", "temperature"},
      {R"("temperature":true)", "temperature"},
      {R"("top_p":1.01)", "top_p"},
      {R"("top_p":-1)", "top_p"},
      {R"("top_k":1.5)", "top_k"},
      {R"("top_k":-2)", "top_k"},
      {R"("top_k":99999999999)", "top_k"},
      {R"("min_p":2)", "min_p"},
      {R"("presence_penalty":3)", "presence_penalty"},
      {R"("frequency_penalty":-3)", "frequency_penalty"},
      {R"("repetition_penalty":0)", "repetition_penalty"},
      {R"("max_tokens":0)", "max_tokens"},
      {R"("max_tokens":-5)", "max_tokens"},
      {R"("max_tokens":1e30)", "max_tokens"},
      {R"("max_tokens":2.5)", "max_tokens"},
      {R"("max_tokens":[1])", "max_tokens"},
      {R"("stop":5)", "stop"},
      {R"("stop":["a",5])", "stop"},
      {R"("stop":["1","2","3","4","5","6","7","8","9","10","11","12","13","14","15","16","17"])", "stop"},
      {R"("stream":"yes")", "stream"},
      {R"("stream":1)", "stream"},
      {R"("stream_options":[])", "stream_options"},
      {R"("stream_options":{"include_usage":1})", "stream_options.include_usage"},
      {R"("logit_bias":{"a":1})", "logit_bias"},
      {R"("logit_bias":{"-1":1})", "logit_bias"},
      {R"("logit_bias":{"1":101})", "logit_bias"},
      {R"("logit_bias":[])", "logit_bias"},
      {R"("top_logprobs":2)", "top_logprobs"},
      {R"("logprobs":true,"top_logprobs":21)", "top_logprobs"},
      {R"("n":0)", "n"},
      {R"("n":9)", "n"},
      {R"("loop_guard":"yes")", "loop_guard"},
      {R"("thinking_budget":-2)", "thinking_budget"},
      {R"("thinking":{"budget_tokens":"many"})", "thinking.budget_tokens"},
      {R"("think":7)", "think"},
      {R"("tools":{})", "tools"},
      {R"("tools":[1])", "tools[0]"},
      {R"("tools":[{"type":"function"}])", "tools[0].function"},
      {R"("tools":[{"type":"function","function":{"name":""}}])", "tools[0].function.name"},
      {R"("tools":[{"type":"function","function":{"name":"f","parameters":3}}])",
       "tools[0].function.parameters"},
      {R"("tool_choice":"sometimes")", "tool_choice"},
      {R"("tool_choice":7)", "tool_choice"},
      {R"("tool_choice":{"type":"function"})", "tool_choice.name"},
      {R"("tool_choice":{"type":"function","function":{}})", "tool_choice.function.name"},
      {R"("tool_choice":{"type":"allowed_tools","allowed_tools":{"tools":[7]}})",
       "tool_choice.allowed_tools.tools[0]"},
      {R"("response_format":"json")", "response_format"},
      {R"("response_format":{"type":"xml"})", "response_format.type"},
      {R"("response_format":{"type":"json_schema"})", "response_format.json_schema.schema"},
      {R"("response_format":{"type":"json_schema","json_schema":{}})", "response_format.json_schema.schema"},
      {R"("chat_template_kwargs":{"enable_thinking":"no"})", "chat_template_kwargs.enable_thinking"},
      {R"("model":5)", "model"},
  };
  for (const auto& [fields, param] : cases) {
    const Refusal found = refusal(with(fields));
    EXPECT_EQ(found.kind, ErrorKind::kInvalidRequest) << fields;
    EXPECT_EQ(found.param, param) << fields;
    EXPECT_TRUE(found.text.starts_with(param)) << found.text;
  }
}

TEST(ChatRequest, ReadsTheFormOfTheAnswer) {
  using Format = AnswerRequest::Format;
  EXPECT_FALSE(parse(R"("response_format":{"type":"text"},"tool_choice":"auto")").answer.is_constrained());
  EXPECT_EQ(parse(R"("response_format":{"type":"json_object"})").answer.format, Format::kJsonObject);
  const AnswerRequest schema =
      parse(
          R"("response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"minimum":1.50e0}}})")
          .answer;
  EXPECT_EQ(schema.format, Format::kJsonSchema);
  EXPECT_EQ(schema.schema_json, R"({"minimum": 1.50e0})");
  EXPECT_EQ(schema.schema_path, "response_format.json_schema.schema");
  const AnswerRequest bare = parse(R"("response_format":{"type":"json_object","schema":true})").answer;
  EXPECT_EQ(bare.schema_json, "true");
  EXPECT_EQ(bare.schema_path, "response_format.schema");
  for (const char* choice : {R"("required")", R"("any")"}) {
    const AnswerRequest answer =
        parse(std::string(R"("parallel_tool_calls":false,"tool_choice":)") + choice).answer;
    EXPECT_TRUE(answer.call_required);
    EXPECT_TRUE(answer.callable.empty());
    EXPECT_FALSE(answer.parallel_calls);
  }
  for (const char* choice :
       {R"({"type":"function","function":{"name":"f"}})", R"({"type":"function","name":"f"})"}) {
    const AnswerRequest answer = parse(std::string(R"("tool_choice":)") + choice).answer;
    EXPECT_TRUE(answer.call_required);
    EXPECT_EQ(answer.callable, std::vector<std::string>{"f"});
  }
  const AnswerRequest allowed =
      parse(R"("tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required",
      "tools":[{"type":"function","function":{"name":"f"}},{"type":"function","name":"g"}]}})")
          .answer;
  EXPECT_TRUE(allowed.call_required);
  EXPECT_EQ(allowed.callable, (std::vector<std::string>{"f", "g"}));
}

TEST(ChatRequest, RefusesWhatItCannotDo) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("functions":[{"name":"f"}])", "functions"},
  };
  for (const auto& [fields, param] : cases) {
    const Refusal found = refusal(with(fields));
    EXPECT_EQ(found.kind, ErrorKind::kUnsupported) << fields;
    EXPECT_EQ(found.param, param) << fields;
  }
}

TEST(ChatRequest, RefusesWhatIsNotARequest) {
  std::string nul = with("");
  nul[nul.find("SECRET")] = '\0';
  std::string broken = with("");
  broken[broken.find("SECRET")] = '\xC3';
  for (const std::string& body :
       {std::string(), std::string("nonsense"), std::string("{"), std::string("[]"), std::string("\"text\""),
        std::string("null"), with("") + "x", with(R"("temperature":NaN)"), with(R"("temperature":Infinity)"),
        nul, broken, std::string(100'000, '['), R"({"a":)" + std::string(100'000, '{')}) {
    const Refusal found = refusal(body);
    EXPECT_EQ(found.kind, ErrorKind::kInvalidRequest);
    EXPECT_LT(found.text.size(), 300u);
    EXPECT_EQ(found.text.find("SECRET"), std::string::npos) << "the request's text is in the error";
  }
  std::string many = "[0";
  for (int i = 0; i < 2'100'000; ++i) {
    many += ",0";
  }
  EXPECT_NE(refusal(with("\"x\":" + many + "]")).text.find("values"), std::string::npos);
}

TEST(ChatRequest, RefusesWrongMessages) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({})", "messages"},
      {R"({"messages":null})", "messages"},
      {R"({"messages":"hi"})", "messages"},
      {R"({"messages":[]})", "messages"},
      {R"({"messages":[7]})", "messages[0]"},
      {R"({"messages":[{"content":"hi"}]})", "messages[0].role"},
      {R"({"messages":[{"role":"king","content":"hi"}]})", "messages[0].role"},
      {R"({"messages":[{"role":5,"content":"hi"}]})", "messages[0].role"},
      {R"({"messages":[{"role":"user","content":"a"},{"role":"user","content":5}]})", "messages[1].content"},
      {R"({"messages":[{"role":"user","content":[5]}]})", "messages[0].content[0]"},
      {R"({"messages":[{"role":"user","content":[{"type":"text"}]}]})", "messages[0].content[0].text"},
      {R"({"messages":[{"role":"user","content":[{"type":"input_audio"}]}]})", "messages[0].content[0].type"},
      {R"({"messages":[{"role":"assistant","tool_calls":[{}]}]})", "messages[0].tool_calls[0].function"},
      {R"({"messages":[{"role":"assistant","tool_calls":[{"function":{}}]}]})",
       "messages[0].tool_calls[0].function.name"},
      {R"({"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":4}}]}]})",
       "messages[0].tool_calls[0].function.arguments"},
  };
  for (const auto& [body, param] : cases) {
    EXPECT_EQ(refusal(body).param, param) << body;
  }
}

TEST(ChatRequest, ReadsMessagesInEveryForm) {
  const ChatRequest chat = parse_chat_request(R"({"messages":[
      {"role":"developer","content":"rules"},
      {"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"x"}},"b"],
       "name":"n"},
      {"role":"assistant","content":null,"reasoning_content":"r","tool_calls":[
        {"id":"1","type":"function","function":{"name":"f","arguments":"{\"z\":1,\"a\":2.50}"}},
        {"id":"2","type":"function","function":{"name":"g","arguments":{"z":18446744073709551616}}},
        {"id":"3","type":"function","function":{"name":"h","arguments":"{\"broken"}}]},
      {"role":"tool","tool_call_id":"1","content":"done"},
      {"role":"assistant","content":[{"type":"thinking","thinking":"t"},{"type":"output_text","text":"o"}]}]})");
  ASSERT_EQ(chat.messages.size(), 5u);
  EXPECT_EQ(chat.messages[0].role, "developer");
  ASSERT_EQ(chat.messages[1].content.size(), 3u);
  EXPECT_EQ(chat.messages[1].content[1].kind, text::ContentPart::Kind::kImage);
  EXPECT_EQ(chat.messages[1].content[2].text, "b");
  const auto& called = chat.messages[2];
  EXPECT_TRUE(called.content.empty());
  EXPECT_EQ(called.reasoning_content, "r");
  ASSERT_EQ(called.tool_calls.size(), 3u);
  EXPECT_EQ(called.tool_calls[0].arguments_json, R"({"z":1,"a":2.50})");
  EXPECT_EQ(called.tool_calls[1].arguments_json, R"({"z": 18446744073709551616})");
  EXPECT_EQ(called.tool_calls[2].arguments_json, R"({"arguments": "{\"broken"})");
  EXPECT_EQ(chat.messages[3].tool_call_id, "1");
  EXPECT_EQ(chat.messages[4].reasoning_content, "t");
  EXPECT_EQ(chat.messages[4].content.at(0).text, "o");
}

TEST(ChatRequest, KeepsTextAsItWas) {
  const ChatRequest chat =
      parse_chat_request(R"({"messages":[{"role":"user","content":"\u0000 \ud83d\ude00 \ud83d é"}]})");
  EXPECT_EQ(chat.messages[0].content.at(0).text, std::string("\0 😀 \xEF\xBF\xBD é", 13));
}

TEST(ChatRequest, KeepsToolsInTheClientsOrder) {
  const ChatRequest chat = parse(R"("tools":[{"type":"web_search"},{"type":"function","function":
      {"name":"f","parameters":{"type":"object","properties":{"z":{"type":"integer"},"a":{"enum":[1.0,1e2]}}}}}])");
  ASSERT_EQ(chat.tools.size(), 1u);
  EXPECT_EQ(
      chat.tools[0],
      R"({"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": )"
      R"({"z": {"type": "integer"}, "a": {"enum": [1.0, 100.0]}}}}})");
  EXPECT_TRUE(
      parse(R"("tool_choice":"none","tools":[{"type":"function","function":{"name":"f"}}])").tools.empty());
}

TEST(ChatRequest, TakesAHundredThousandMessages) {
  std::string body = R"({"messages":[)";
  for (int i = 0; i < 100'000; ++i) {
    body += R"({"role":"user","content":"x"},)";
  }
  body.back() = ']';
  EXPECT_EQ(parse_chat_request(body + "}").messages.size(), 100'000u);
}

TEST(ResolveSampling, StaysInTheEnginesRange) {
  const ChatRequest chat =
      parse(R"("top_p":0,"min_p":1,"top_k":-1,"temperature":2,"repetition_penalty":0.01)");
  const SamplingParams params = resolve_sampling(chat.sampling, {});
  EXPECT_NO_THROW(validate(params, 100));
  EXPECT_EQ(params.top_k, 0);
}

}  // namespace
}  // namespace orfebre::api
