// Anthropic's, Ollama's and OpenAI's other APIs over a scripted model: what only a script can make happen.
#include "server/server_fixture.h"

namespace orfebre {
namespace {

using namespace testing;  // NOLINT: the fixture's words

struct Api {
  const char* path;
  std::string before;  // of the body, up to the user's text
  std::string after;
};

const std::vector<Api>& apis() {
  static const std::vector<Api> all = {
      {"/v1/messages", R"("max_tokens":900,"messages":[{"role":"user","content":)", "}]"},
      {"/v1/responses", R"("enable_thinking":false,"input":)", ""},
      {"/api/chat", R"("think":false,"messages":[{"role":"user","content":)", "}]"},
      {"/api/generate", R"("think":false,"prompt":)", ""},
  };
  return all;
}

std::string body_of(const Api& api, const std::string& reply, bool stream, const std::string& fields = "") {
  return "{" + fields + (stream ? R"("stream":true,)" : R"("stream":false,)") + api.before +
         quoted("say " + reply) + api.after + "}";
}

TEST_F(ServerTest, EveryApiTellsOfAFailure) {
  start();
  for (const Api& api : apis()) {
    const TestResponse whole = ask(port(), post(api.path, body_of(api, "abc<fail>", false)));
    EXPECT_EQ(whole.status, 500) << api.path;
    EXPECT_TRUE(Json(whole.body).has("/error")) << api.path;
    const TestResponse streamed = ask(port(), post(api.path, body_of(api, "abc<fail>", true)));
    EXPECT_EQ(streamed.status, 200) << api.path;
    EXPECT_TRUE(streamed.complete) << api.path;
    EXPECT_NE(streamed.body.find("not a finite number"), std::string::npos) << api.path << streamed.body;
    EXPECT_EQ(ask(port(), post(api.path, body_of(api, "fine", false))).status, 200)
        << "the next request suffers";
  }
  EXPECT_TRUE(is_idle());
}

// The script pays no heed to masks, as no model can.
TEST_F(ServerTest, EveryApiTellsOfAnAnswerThatLeftItsForm) {
  start();
  const std::string schema = R"({"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]})";
  const std::string formats[] = {
      R"("output_config":{"format":{"type":"json_schema","schema":)" + schema + "}},",
      R"("text":{"format":{"type":"json_schema","name":"n","schema":)" + schema + "}},",
      R"("format":)" + schema + ",", R"("format":)" + schema + ","};
  for (size_t i = 0; i < apis().size(); ++i) {
    const Api& api = apis()[i];
    const TestResponse good = ask(port(), post(api.path, body_of(api, R"({"a": 12})", false, formats[i])));
    EXPECT_EQ(good.status, 200) << api.path << good.body;
    const TestResponse torn = ask(port(), post(api.path, body_of(api, R"({"a": oh)", false, formats[i])));
    EXPECT_EQ(torn.status, 500) << api.path << torn.body;
    const TestResponse streamed = ask(port(), post(api.path, body_of(api, R"({"a": oh)", true, formats[i])));
    EXPECT_TRUE(streamed.complete) << api.path;
    EXPECT_NE(streamed.body.find("left the form"), std::string::npos) << api.path << streamed.body;
  }
  const std::string chat_format =
      kDirect + R"(,"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":)" + schema +
      "}}";
  EXPECT_EQ(complete(chat(R"({"a": 12})", chat_format)).status, 200);
  EXPECT_EQ(complete(chat(R"({"a": oh)", chat_format)).status, 500);
}

TEST_F(ServerTest, EveryApiFreesTheSequenceOfAClientThatLeaves) {
  start();
  pace_->decode_ms = 5;
  for (const Api& api : apis()) {
    for (const bool stream : {false, true}) {
      TestClient client(port());
      client.send(post(api.path, body_of(api, std::string(900, 'x'), stream)));
      ASSERT_TRUE(eventually([&] { return engine_->stats().running == 1; })) << api.path;
      client.close();
      EXPECT_TRUE(eventually([&] { return is_idle(); })) << api.path;
    }
  }
}

TEST_F(ServerTest, EveryApiShowsLifeWhileThePromptIsRead) {
  ServerOptions options;
  options.keep_alive = std::chrono::milliseconds(50);
  start(options);
  pace_->prefill_ms = 400;
  for (const Api& api : apis()) {
    TestClient client(port());
    client.send(post(api.path, body_of(api, "done", true)));
    std::string seen;
    while (seen.find("done") == std::string::npos) {
      const std::string more = client.receive_some();
      ASSERT_FALSE(more.empty()) << api.path << seen;
      seen += more;
      const bool alive = seen.find("\n: waiting") != std::string::npos ||
                         seen.find("event: ping") != std::string::npos ||
                         seen.find(R"("done":false)") != std::string::npos;
      if (alive) {
        break;
      }
    }
    EXPECT_EQ(seen.find("completed"), std::string::npos) << api.path << " was silent: " << seen;
    client.close();
    EXPECT_TRUE(eventually([&] { return is_idle(); }));
  }
}

TEST_F(ServerTest, AnthropicsBlocksHoldSeveralCalls) {
  start();
  const std::string tools =
      R"("tools":[{"name":"weather","input_schema":{"type":"object","properties":{"city":{"type":"string"},
         "days":{"type":"integer"}}}}],)";
  const std::string reply = "Two calls.\n" + kCall + "\n" + kCall;
  const Json whole(ask(port(), post("/v1/messages", body_of(apis()[0], reply, false, tools))).body);
  EXPECT_EQ(whole.text("/content/0/type"), "text");
  EXPECT_EQ(whole.text("/content/0/text"), "Two calls.");
  for (const char* block : {"/content/1", "/content/2"}) {
    EXPECT_EQ(whole.text(block + std::string("/type")), "tool_use");
    EXPECT_EQ(whole.text(block + std::string("/input/city")), "Oslo");
    EXPECT_EQ(whole.number(block + std::string("/input/days")), 3);
  }
  EXPECT_NE(whole.text("/content/1/id"), whole.text("/content/2/id"));
  EXPECT_EQ(whole.text("/stop_reason"), "tool_use");

  std::vector<std::string> joined;
  for (const std::string& event :
       events(ask(port(), post("/v1/messages", body_of(apis()[0], reply, true, tools))).body)) {
    const Json json(event);
    if (json.text("/type") == "content_block_start") {
      EXPECT_EQ(json.number("/index"), static_cast<int64_t>(joined.size()));
      joined.emplace_back();
    } else if (json.has("/delta/partial_json")) {
      joined.back() += json.text("/delta/partial_json");
    } else if (json.has("/delta/text")) {
      joined.back() += json.text("/delta/text");
    }
  }
  ASSERT_EQ(joined.size(), 3u);
  EXPECT_EQ(joined[0], "Two calls.");
  EXPECT_EQ(Json(joined[1]).number("/days"), 3);
  EXPECT_EQ(joined[1], joined[2]);
}

TEST_F(ServerTest, AResponseRepeatsWhatWasAsked) {
  start();
  const std::string format =
      R"({"type":"json_schema","name":"n","strict":true,"schema":{"type":"integer","minimum":1.50e0}})";
  const std::string choice =
      R"({"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"}]})";
  const std::string fields =
      R"("instructions":"Be \"brief\"\n","metadata":{"a":"b"},"user":"u7","tool_choice":)" + choice +
      R"(,"tools":[{"type":"function","name":"f"}],"text":{"format":)" + format +
      R"(},"reasoning":{"effort":"low","summary":"auto"},)";
  const auto check = [&](const Json& json, const std::string& at) {
    EXPECT_EQ(json.text(at + "/instructions"), "Be \"brief\"\n");
    EXPECT_EQ(json.text(at + "/metadata/a"), "b");
    EXPECT_EQ(json.text(at + "/user"), "u7");
    EXPECT_EQ(json.text(at + "/reasoning/effort"), "low");
    EXPECT_EQ(json.text(at + "/reasoning/summary"), "auto");
    EXPECT_EQ(std::string(simdjson::minify(json.at(at + "/tool_choice"))), choice);
    EXPECT_EQ(json.text(at + "/text/format/type"), "json_schema");
    EXPECT_EQ(json.at(at + "/text/format/schema/minimum").get_double().value(), 1.5);
    EXPECT_EQ(json.text(at + "/tools/0/name"), "f");
  };
  check(Json(ask(port(), post("/v1/responses", body_of(apis()[1], "12", false, fields))).body), "");
  int n_responses = 0;
  for (const std::string& event :
       events(ask(port(), post("/v1/responses", body_of(apis()[1], "12", true, fields))).body)) {
    if (const Json json(event); json.has("/response")) {
      check(json, "/response");
      ++n_responses;
    }
  }
  EXPECT_EQ(n_responses, 3);
  const Json plain(ask(port(), post("/v1/responses", body_of(apis()[1], "12", false))).body);
  EXPECT_EQ(plain.text("/instructions"), "null");
  EXPECT_EQ(plain.text("/tool_choice"), "auto");
  EXPECT_EQ(plain.text("/text/format/type"), "text");
  EXPECT_EQ(plain.text("/reasoning/effort"), "null");
}

TEST_F(ServerTest, AResponseCutShortIsIncomplete) {
  start();
  const Json cut(ask(port(), post("/v1/responses",
                                  body_of(apis()[1], "Hello there", false, R"("max_output_tokens":5,)")))
                     .body);
  EXPECT_EQ(cut.text("/status"), "incomplete");
  EXPECT_EQ(cut.text("/incomplete_details/reason"), "max_output_tokens");
  EXPECT_EQ(cut.text("/output/0/content/0/text"), "Hello");
}

}  // namespace
}  // namespace orfebre
