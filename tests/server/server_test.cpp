// The whole server over the real engine and a scripted model: what goes in by HTTP and what comes out.
#include "server/server_fixture.h"

namespace orfebre {
namespace {

using namespace testing;  // NOLINT: the fixture's words

TEST_F(ServerTest, AnswersAChat) {
  start();
  const TestResponse response = complete(chat("let me see</think>\n\nHello, world"));
  ASSERT_EQ(response.status, 200) << response.body;
  const Json json(response.body);
  EXPECT_TRUE(response.headers.at("x-request-id").starts_with("req_"));
  EXPECT_TRUE(json.text("/id").starts_with("chatcmpl-"));
  EXPECT_EQ(json.text("/object"), "chat.completion");
  EXPECT_GT(json.number("/created"), 1'700'000'000);
  EXPECT_EQ(json.text("/model"), "scripted");
  EXPECT_EQ(json.text("/choices/0/message/role"), "assistant");
  EXPECT_EQ(json.text("/choices/0/message/content"), "Hello, world");
  EXPECT_EQ(json.text("/choices/0/message/reasoning_content"), "let me see");
  EXPECT_EQ(json.text("/choices/0/finish_reason"), "stop");
  // 10 bytes, </think>, 2 + 12 bytes; the end of the turn is not part of the reply.
  EXPECT_EQ(json.number("/usage/completion_tokens"), 25);
  EXPECT_EQ(json.number("/usage/completion_tokens_details/reasoning_tokens"), 11);
  EXPECT_EQ(json.number("/usage/total_tokens"), json.number("/usage/prompt_tokens") + 25);
  EXPECT_EQ(json.number("/usage/prompt_tokens_details/cached_tokens"), 0);
  EXPECT_TRUE(json.has("/timings/prefill_ms"));
}

TEST_F(ServerTest, StreamsTheSameAsItSendsWhole) {
  start();
  const std::string cases[][2] = {
      {"thinking</think>\n\nanswer é", ""},
      {"plain\nanswer", kDirect},
      {"no end of thinking", ""},
      {"", kDirect},
      {"Let me look.\n\n" + kCall + "\n" + kCall, kDirect + "," + kTools},
      {"hm</think>\n\n" + kCall, kTools},
      {kCall, kDirect},  // no tools were declared: text
  };
  for (const auto& [reply, fields] : cases) {
    const Json whole(complete(chat(reply, fields)).body);
    const std::string comma = fields.empty() ? "" : ",";
    const TestResponse streamed =
        complete(chat(reply, fields + comma + R"("stream":true,"stream_options":{"include_usage":true})"));
    EXPECT_EQ(streamed.headers.at("content-type"), "text/event-stream");
    const Joined joined = join(streamed.body);
    EXPECT_TRUE(joined.done);
    EXPECT_EQ(joined.role, "assistant");
    const std::string content = whole.text("/choices/0/message/content");
    EXPECT_EQ(joined.content, content == "null" ? "" : content);
    EXPECT_EQ(joined.reasoning, whole.has("/choices/0/message/reasoning_content")
                                    ? whole.text("/choices/0/message/reasoning_content")
                                    : "");
    EXPECT_EQ(joined.finish_reason, whole.text("/choices/0/finish_reason"));
    const Json usage(joined.usage);
    for (const char* name : {"/usage/prompt_tokens", "/usage/completion_tokens",
                             "/usage/completion_tokens_details/reasoning_tokens"}) {
      EXPECT_EQ(usage.number(name), whole.number(name)) << name;
    }
    for (size_t i = 0; i < joined.calls.size(); ++i) {
      const std::string call = "/choices/0/message/tool_calls/" + std::to_string(i);
      EXPECT_EQ(joined.calls[i].first, whole.text(call + "/function/name"));
      EXPECT_EQ(joined.calls[i].second, whole.text(call + "/function/arguments"));
    }
    EXPECT_FALSE(whole.has("/choices/0/message/tool_calls/" + std::to_string(joined.calls.size())));
  }
}

TEST_F(ServerTest, ReportsToolCalls) {
  start();
  const Json json(complete(chat("Let me look.\n\n" + kCall + "\n" + kCall, kDirect + "," + kTools)).body);
  EXPECT_EQ(json.text("/choices/0/finish_reason"), "tool_calls");
  EXPECT_EQ(json.text("/choices/0/message/content"), "Let me look.");
  EXPECT_EQ(json.text("/choices/0/message/tool_calls/1/type"), "function");
  EXPECT_NE(json.text("/choices/0/message/tool_calls/0/id"), json.text("/choices/0/message/tool_calls/1/id"));
  EXPECT_EQ(json.text("/choices/0/message/tool_calls/0/function/name"), "weather");
  const Json arguments(json.text("/choices/0/message/tool_calls/0/function/arguments"));
  EXPECT_EQ(arguments.text("/city"), "Oslo");
  EXPECT_EQ(arguments.number("/days"), 3);
  EXPECT_EQ(Json(complete(chat(kCall, kDirect + "," + kTools)).body).text("/choices/0/message/content"),
            "null");
}

TEST_F(ServerTest, SendsEachTokenAtOnce) {
  start();
  const Joined joined = join(complete(chat("0123456789", kDirect + R"(,"stream":true)")).body);
  EXPECT_EQ(joined.content, "0123456789");
  EXPECT_EQ(joined.n_content_chunks, 11);  // the role's empty one, and a token each
  EXPECT_TRUE(joined.usage.empty()) << "nobody asked for usage";
}

TEST_F(ServerTest, StreamsBeforeTheReplyIsOver) {
  start();
  pace_->decode_ms = 20;
  TestClient client(port());
  client.send(post("/v1/chat/completions", chat(std::string(1500, 'x'), kDirect + R"(,"stream":true)")));
  std::string seen;
  while (seen.find("\"content\":\"x\"") == std::string::npos) {
    const std::string more = client.receive_some();
    ASSERT_FALSE(more.empty());
    seen += more;
  }
  EXPECT_EQ(engine_->stats().running, 1) << "the first token came when all was over";
}

TEST_F(ServerTest, SendsTheHeadBeforeThePromptIsRead) {
  ServerOptions options;
  options.keep_alive = std::chrono::milliseconds(100);
  start(options);
  pace_->prefill_ms = 60'000;
  TestClient client(port());
  client.send(post("/v1/chat/completions", chat("x", R"("stream":true)")));
  std::string seen;
  while (seen.find("\"role\":\"assistant\"") == std::string::npos || seen.find("\n: ") == std::string::npos) {
    const std::string more = client.receive_some();
    ASSERT_FALSE(more.empty());
    seen += more;
  }
  EXPECT_TRUE(seen.starts_with("HTTP/1.1 200"));
}

TEST_F(ServerTest, StopsAtStopStrings) {
  start();
  const std::string stop = R"("stop":["END","\n\n"])";
  for (const std::string stream : {"", R"(,"stream":true,"stream_options":{"include_usage":true})"}) {
    const TestResponse response =
        complete(chat("a\n\nb</think>\n\nfirst line\nEN, then END and secrets", stop + stream));
    EXPECT_EQ(response.body.find("secrets"), std::string::npos);
    std::string content, finish, usage = response.body;
    if (stream.empty()) {
      content = Json(response.body).text("/choices/0/message/content");
      finish = Json(response.body).text("/choices/0/finish_reason");
    } else {
      const Joined joined = join(response.body);
      content = joined.content;
      finish = joined.finish_reason;
      usage = joined.usage;
    }
    EXPECT_EQ(content, "first line\nEN, then ");
    EXPECT_EQ(finish, "stop");
    // 4 bytes, </think>, 2 + 20 bytes, and the three of END: nothing was made after it.
    EXPECT_EQ(Json(usage).number("/usage/completion_tokens"), 30);
  }
}

TEST_F(ServerTest, StopsAtTheLimit) {
  start();
  const Json json(complete(chat("0123456789", kDirect + R"(,"max_tokens":4)")).body);
  EXPECT_EQ(json.text("/choices/0/message/content"), "0123");
  EXPECT_EQ(json.text("/choices/0/finish_reason"), "length");
  EXPECT_EQ(json.number("/usage/completion_tokens"), 4);
  // A call cut short is still JSON.
  const Json cut(complete(chat(kCall, kDirect + "," + kTools + R"(,"max_tokens":60)")).body);
  EXPECT_EQ(cut.text("/choices/0/finish_reason"), "length");
  EXPECT_TRUE(Json(cut.text("/choices/0/message/tool_calls/0/function/arguments")).root.is_object());
}

TEST_F(ServerTest, RunsToTheEndOfTheContext) {
  start();
  const Json json(complete(chat(std::string(kContext / 2, 'x'), kDirect)).body);
  EXPECT_EQ(json.text("/choices/0/finish_reason"), "length");
  EXPECT_EQ(json.number("/usage/total_tokens"), kContext);
}

TEST_F(ServerTest, TellsThatThePromptIsTooLong) {
  start();
  const TestResponse response = complete(chat(std::string(3 * kContext, 'x'), R"("stream":true)"));
  EXPECT_EQ(response.status, 400);
  const Json json(response.body);
  EXPECT_EQ(json.text("/error/code"), "context_length_exceeded");
  EXPECT_EQ(json.text("/error/type"), "invalid_request_error");
  const std::string message = json.text("/error/message");
  EXPECT_NE(message.find("exceeds the available context size"), std::string::npos);
  EXPECT_NE(message.find("maximum context length is 2048 tokens"), std::string::npos);
  const size_t at = message.find("prompt has ");
  ASSERT_NE(at, std::string::npos);
  EXPECT_GT(std::stoi(message.substr(at + 11)), 3 * kContext);
  EXPECT_EQ(message.find("xxx"), std::string::npos);
}

TEST_F(ServerTest, SendsLogprobs) {
  start();
  for (const bool stream : {false, true}) {
    const TestResponse response = complete(
        chat("a\xC3\xA9STOPb", kDirect + R"(,"logprobs":true,"top_logprobs":2,"stop":"STOP","stream":)" +
                                   (stream ? "true" : "false")));
    std::vector<std::string> tokens;
    std::vector<int64_t> bytes;
    for (const std::string& event :
         stream ? events(response.body) : std::vector<std::string>{response.body}) {
      if (event == "[DONE]") {
        continue;
      }
      const Json json(event);
      if (!json.has("/choices/0/logprobs/content")) {
        continue;
      }
      for (const dom::element token : json.at("/choices/0/logprobs/content").get_array()) {
        tokens.emplace_back(token["token"].get_string().value());
        for (const dom::element byte : token["bytes"].get_array()) {
          bytes.push_back(byte.get_int64().value());
        }
        EXPECT_EQ(token["logprob"].get_double().value(), -0.25);
        EXPECT_EQ(token["top_logprobs"].get_array().size(), 2u);
      }
    }
    EXPECT_EQ(tokens, (std::vector<std::string>{"a", "\xEF\xBF\xBD", "\xEF\xBF\xBD"}));
    EXPECT_EQ(bytes, (std::vector<int64_t>{'a', 0xC3, 0xA9}));
  }
}

TEST_F(ServerTest, ReportsFailuresOfTheEngine) {
  start();
  const TestResponse whole = complete(chat("ab<fail>c", kDirect));
  EXPECT_EQ(whole.status, 500);
  EXPECT_EQ(Json(whole.body).text("/error/type"), "server_error");
  const TestResponse streamed = complete(chat("ab<fail>c", kDirect + R"(,"stream":true)"));
  EXPECT_EQ(streamed.status, 200);
  EXPECT_TRUE(streamed.complete);
  const auto all = events(streamed.body);
  EXPECT_EQ(Json(all.back()).text("/error/type"), "server_error");
  EXPECT_NE(streamed.body.find("event: error\n"), std::string::npos);
  // The next request is none the worse.
  EXPECT_EQ(complete(chat("fine", kDirect)).status, 200);
}

TEST_F(ServerTest, FreesTheSequenceOfAClientThatLeaves) {
  start();
  uint64_t n_cancelled = 0;
  for (const bool in_prefill : {true, false}) {
    for (const bool stream : {true, false}) {
      pace_->prefill_ms = in_prefill ? 600'000 : 0;
      pace_->decode_ms = in_prefill ? 0 : 100;
      const int n_before = pace_->n_steps;
      TestClient client(port());
      client.send(
          post("/v1/chat/completions",
               chat(std::string(1000, 'x'), kDirect + R"(,"stream":)" + (stream ? "true" : "false"))));
      // Five prefill steps read the prompt; then come decode steps.
      ASSERT_TRUE(eventually([&] { return pace_->n_steps > n_before + (in_prefill ? 0 : 6); }));
      client.close();
      EXPECT_TRUE(eventually([&] { return engine_->stats().cancelled == n_cancelled + 1; }))
          << in_prefill << stream;
      EXPECT_TRUE(is_idle());
      ++n_cancelled;
    }
  }
}

TEST_F(ServerTest, ForgetsQueuedRequestsOfClientsThatLeave) {
  start();
  pace_->prefill_ms = 600'000;
  std::vector<TestClient> clients;
  for (int i = 0; i < 12; ++i) {
    clients.emplace_back(port());
    clients.back().send(post("/v1/chat/completions", chat("x", R"("stream":true)")));
  }
  ASSERT_TRUE(eventually([&] { return engine_->stats().waiting > 0; }));
  clients.clear();
  EXPECT_TRUE(eventually([&] { return is_idle(); }));
}

TEST_F(ServerTest, SaysWhenItIsOverloaded) {
  start();
  pace_->decode_ms = 50;
  std::vector<TestClient> clients;
  for (int i = 0; i < 30; ++i) {
    clients.emplace_back(port());
    clients.back().send(post("/v1/chat/completions", chat(std::string(1000, 'x'), R"("stream":true)")));
  }
  int n_refused = 0;
  for (TestClient& client : clients) {
    std::string head = client.receive_some();
    if (!head.starts_with("HTTP/1.1 429")) {
      continue;
    }
    ++n_refused;
    EXPECT_NE(head.find("Retry-After: "), std::string::npos);
    while (head.find("\"overloaded\"") == std::string::npos) {
      const std::string more = client.receive_some();
      ASSERT_FALSE(more.empty());
      head += more;
    }
  }
  EXPECT_GT(n_refused, 0);
  EXPECT_LT(n_refused, 30);
}

TEST_F(ServerTest, ServesManyRepliesAtOnce) {
  start();
  std::vector<TestClient> clients;
  for (int i = 0; i < 5; ++i) {
    clients.emplace_back(port());
    clients.back().send(post("/v1/chat/completions",
                             chat("reply number " + std::to_string(i), kDirect + R"(,"stream":true)")));
  }
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(join(clients[static_cast<size_t>(i)].receive().body).content,
              "reply number " + std::to_string(i));
  }
}

TEST_F(ServerTest, FindsRoutesByEveryName) {
  start();
  for (const char* path : {"/v1/chat/completions", "/chat/completions", "/v1/chat/completions/",
                           "/chat/completions?api-version=1"}) {
    EXPECT_EQ(ask(port(), post(path, chat("hi"))).status, 200) << path;
  }
  for (const char* path :
       {"/v1/models", "/models/", "/v1/models/scripted", "/v1/", "/", "/health", "/metrics"}) {
    EXPECT_EQ(ask(port(), get(path)).status, 200) << path;
    TestClient client(port());
    client.send("HEAD " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_EQ(client.receive(true).status, 200) << path;
  }
  for (const char* path : {"/v2/models", "/v1/models/other", "/nothing", "/v1/chat", "/%zz", "/models/%"}) {
    const TestResponse response = ask(port(), get(path));
    EXPECT_EQ(response.status, 404) << path;
    EXPECT_EQ(Json(response.body).text("/error/code"), "not_found");
  }
  const TestResponse wrong = ask(port(), get("/v1/chat/completions"));
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.headers.at("allow"), "POST, OPTIONS");
  EXPECT_TRUE(Json(wrong.body).has("/error/message"));
  EXPECT_EQ(ask(port(), post("/v1/models", "{}")).headers.at("allow"), "GET, HEAD, OPTIONS");
  const TestResponse options =
      ask(port(),
          "OPTIONS /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:3\r\n\r\n");
  EXPECT_EQ(options.status, 204);
  EXPECT_EQ(options.headers.at("access-control-allow-origin"), "http://localhost:3");
}

TEST_F(ServerTest, NamesTheModelAndItsContext) {
  start();
  const Json json(ask(port(), get("/v1/models")).body);
  EXPECT_EQ(json.text("/object"), "list");
  EXPECT_EQ(json.text("/data/0/id"), "scripted");
  EXPECT_EQ(json.number("/data/0/context_length"), kContext);
  EXPECT_EQ(json.number("/data/0/max_model_len"), kContext);
  EXPECT_EQ(json.number("/data/0/meta/n_ctx"), kContext);
}

TEST_F(ServerTest, GuardsItsDoors) {
  ServerOptions options;
  options.api_keys = {"sesame"};
  start(options);
  EXPECT_EQ(ask(port(), get("/v1/models")).status, 401);
  EXPECT_EQ(ask(port(), get("/v1/models", "Authorization: Bearer sesame\r\n")).status, 200);
  const TestResponse refused = complete(chat("hi"));
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(Json(refused.body).text("/error/code"), "invalid_api_key");
  EXPECT_EQ(engine_->stats().finished, 1u) << "only the server's own first token";
}

TEST_F(ServerTest, DoesNotListenToOtherMachinesWithoutAKey) {
  start();
  ServerOptions options;
  options.host = "0.0.0.0";
  options.port = 0;
  Server open(options, context());
  EXPECT_THROW(open.start(), Error);
}

TEST_F(ServerTest, CountsTheCachedTokensOfItsOwnKeyOnly) {
  ServerOptions options;
  options.api_keys = {"first", "second"};
  start(options);
  const auto cached_with = [&](const std::string& key) {
    const TestResponse response =
        ask(port(), post("/v1/chat/completions", chat(std::string(300, 'x'), kDirect),
                         "Authorization: Bearer " + key + "\r\n"));
    EXPECT_EQ(response.status, 200) << response.body;
    return Json(response.body).number("/usage/prompt_tokens_details/cached_tokens");
  };
  EXPECT_EQ(cached_with("first"), 0);
  EXPECT_EQ(cached_with("second"), 0);
  EXPECT_GE(cached_with("first"), 256);
  EXPECT_GE(cached_with("second"), 256);
  const std::string metrics = ask(port(), get("/metrics", "x-api-key: first\r\n")).body;
  for (const char* line : {"orfebre_prefix_cache_hits_total 2\n", "orfebre_prefix_cache_lookups_total 5\n",
                           "orfebre_prefix_cache_evictions_total 0\n"}) {  // the server itself asked once
    EXPECT_NE(metrics.find(line), std::string::npos) << metrics;
  }
}

TEST_F(ServerTest, ToldAtTheEndThatTheServerGoesDown) {
  start();
  pace_->decode_ms = 20;
  TestClient streamed(port());
  streamed.send(post("/v1/chat/completions", chat(std::string(1500, 'x'), R"("stream":true)")));
  TestClient whole(port());
  whole.send(post("/v1/chat/completions", chat(std::string(1500, 'x'))));
  ASSERT_TRUE(eventually([&] { return engine_->stats().running == 2; }));
  server_->stop();
  const TestResponse first = streamed.receive();
  EXPECT_TRUE(first.complete);
  EXPECT_EQ(Json(events(first.body).back()).text("/error/code"), "unavailable");
  EXPECT_EQ(whole.receive().status, 503);
  EXPECT_TRUE(is_idle());
  EXPECT_FALSE(TestClient(port()).is_connected());
}

}  // namespace
}  // namespace orfebre
