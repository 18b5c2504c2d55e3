// Several choices, thinking that is cut, loops, and why replies ended.
#include "server/server_fixture.h"

namespace orfebre {
namespace {

using namespace testing;  // NOLINT: the fixture's words

const std::string kStream = R"("stream":true,"stream_options":{"include_usage":true})";

std::string repeated(const std::string& unit, int n) {
  std::string text;
  for (int i = 0; i < n; ++i) {
    text += unit;
  }
  return text;
}

TEST_F(ServerTest, GivesSeveralChoices) {
  start();
  const Json whole(complete(chat("think</think>Hello", R"("n":3)")).body);
  const TestResponse streamed = complete(chat("think</think>Hello", kStream + R"(,"n":3)"));
  for (int i = 0; i < 3; ++i) {
    const std::string choice = "/choices/" + std::to_string(i);
    EXPECT_EQ(whole.number(choice + "/index"), i);
    EXPECT_EQ(whole.text(choice + "/message/content"), "Hello");
    EXPECT_EQ(whole.text(choice + "/message/reasoning_content"), "think");
    EXPECT_EQ(whole.text(choice + "/message/reasoning"), "think");
    EXPECT_EQ(whole.text(choice + "/finish_cause"), "end_of_turn");
    const Joined joined = join(streamed.body, i);
    EXPECT_EQ(joined.content, "Hello");
    EXPECT_EQ(joined.reasoning, "think");
    EXPECT_EQ(joined.finish_reason, "stop");
    EXPECT_TRUE(joined.done);
  }
  const int64_t one = Json(complete(chat("think</think>Hello")).body).number("/usage/completion_tokens");
  EXPECT_EQ(whole.number("/usage/completion_tokens"), 3 * one);
  EXPECT_EQ(Json(join(streamed.body).usage).number("/usage/completion_tokens"), 3 * one);
  EXPECT_TRUE(is_idle());
}

TEST_F(ServerTest, OneFailedChoiceEndsTheAnswer) {
  start();
  EXPECT_EQ(complete(chat("a<fail>b", R"("n":3)")).status, 500);
  const TestResponse streamed = complete(chat("<fail>b", kStream + R"(,"n":3)"));
  EXPECT_EQ(streamed.status, 200);
  EXPECT_TRUE(streamed.complete);
  EXPECT_TRUE(Json(events(streamed.body).back()).has("/error"));
  EXPECT_TRUE(eventually([&] { return is_idle(); }));
}

TEST_F(ServerTest, AdmitsAllChoicesOrNone) {
  start();
  pace_->decode_ms = 5;
  TestClient first(port());
  first.send(post("/v1/chat/completions", chat(std::string(900, 'x'), R"("n":8,"stream":true)")));
  ASSERT_TRUE(eventually([&] { return engine_->stats().running == 8; }));
  const TestResponse refused = complete(chat("hi", R"("n":8)"));  // four may wait
  EXPECT_EQ(refused.status, 429);
  EXPECT_TRUE(refused.headers.count("retry-after"));
  first.close();
  EXPECT_TRUE(eventually([&] { return is_idle(); }));
}

TEST_F(ServerTest, BudgetEndsThinkingAndAnAnswerFollows) {
  start();
  // The scripted model goes on with its script after the forced "\n</think>\n\n", at the position reached
  // then.
  const std::string script = std::string(40, 't') + "|" + "the answer";
  for (const char* budget : {R"("thinking_budget":20)", R"("thinking":{"type":"enabled","budget_tokens":20})",
                             R"("reasoning":{"max_tokens":20})"}) {
    const Json reply(complete(chat(script, budget)).body);
    EXPECT_EQ(reply.text("/choices/0/message/reasoning_content"), std::string(20, 't')) << budget;
    EXPECT_EQ(reply.text("/choices/0/message/content"), std::string(16, 't') + "|the answer");
    EXPECT_EQ(reply.text("/choices/0/finish_reason"), "stop");
    EXPECT_EQ(reply.text("/choices/0/thinking_cut"), "budget");
    EXPECT_LE(reply.number("/usage/completion_tokens_details/reasoning_tokens"), 22);
    const Joined streamed = join(complete(chat(script, kStream + "," + budget)).body);
    EXPECT_EQ(streamed.reasoning, std::string(20, 't'));
    EXPECT_EQ(streamed.thinking_cut, "budget");
  }
  const Json within(complete(chat("short</think>yes", R"("thinking_budget":20)")).body);
  EXPECT_EQ(within.text("/choices/0/message/reasoning_content"), "short");
  EXPECT_FALSE(within.has("/choices/0/thinking_cut"));
  const Json none(complete(chat("yes", R"("thinking_budget":0)")).body);
  EXPECT_EQ(none.text("/choices/0/message/content"), "yes");
  EXPECT_EQ(none.number("/usage/completion_tokens_details/reasoning_tokens"), 0);
}

TEST_F(ServerTest, LengthWithinThinkingIsAValidReply) {
  start();
  const Json reply(complete(chat(std::string(50, 't') + "</think>yes", R"("max_tokens":10)")).body);
  EXPECT_EQ(reply.text("/choices/0/finish_reason"), "length");
  EXPECT_EQ(reply.text("/choices/0/finish_cause"), "max_tokens");
  EXPECT_EQ(reply.text("/choices/0/message/content"), "");
  EXPECT_EQ(reply.text("/choices/0/message/reasoning_content"), std::string(10, 't'));
}

TEST_F(ServerTest, StopsLoops) {
  start({}, 4096);
  const std::string loop = repeated("round and round. ", 75);  // 1,275 tokens of a byte each
  const Json answer(complete(chat(loop, kDirect)).body);
  EXPECT_EQ(answer.text("/choices/0/finish_reason"), "stop");
  EXPECT_EQ(answer.text("/choices/0/finish_cause"), "loop");
  EXPECT_EQ(answer.number("/usage/completion_tokens"), 1024);

  const Joined thinking = join(complete(chat(loop + "</think>yes", kStream)).body);
  EXPECT_EQ(thinking.thinking_cut, "loop");
  EXPECT_LT(thinking.reasoning.size(), 1030u);
  EXPECT_EQ(thinking.finish_reason, "stop");

  for (const char* off : {R"("temperature":0)", R"("loop_guard":false)"}) {
    const Json whole(complete(chat(loop, kDirect + "," + off)).body);
    EXPECT_EQ(whole.text("/choices/0/message/content").size() + 1, loop.size())
        << "the prompt's text is trimmed";
    EXPECT_EQ(whole.text("/choices/0/finish_cause"), "end_of_turn") << off;
  }
  const Json asked(complete(chat(loop, kDirect + R"(,"temperature":0,"loop_guard":true)")).body);
  EXPECT_EQ(asked.text("/choices/0/finish_cause"), "loop");
}

TEST_F(ServerTest, SaysWhyAReplyEnded) {
  start();
  const auto cause = [&](const std::string& reply, const std::string& fields) {
    return Json(complete(chat(reply, kDirect + "," + fields)).body).text("/choices/0/finish_cause");
  };
  EXPECT_EQ(cause("Hello", R"("max_tokens":50)"), "end_of_turn");
  EXPECT_EQ(cause("Hello", R"("max_tokens":2)"), "max_tokens");
  EXPECT_EQ(cause("Hello", R"("stop":["zz","ll"])"), "stop_sequence");
  std::string varied;
  for (int i = 0; i < 400; ++i) {
    varied += std::to_string(i) + " ";
  }
  EXPECT_EQ(cause(varied.substr(0, 1100), R"("loop_guard":false)"), "context");
}

TEST_F(ServerTest, AtMostOneCallWhereTheClientSaysSo) {
  start();
  const std::string two = kCall + "\n" + kCall;
  const Json both(complete(chat(two, kDirect + "," + kTools)).body);
  EXPECT_TRUE(both.has("/choices/0/message/tool_calls/1"));
  const Json one(complete(chat(two, kDirect + "," + kTools + R"(,"parallel_tool_calls":false)")).body);
  EXPECT_TRUE(one.has("/choices/0/message/tool_calls/0"));
  EXPECT_FALSE(one.has("/choices/0/message/tool_calls/1"));
  EXPECT_EQ(one.text("/choices/0/finish_reason"), "tool_calls");
}

TEST_F(ServerTest, SpeaksEachApisErrors) {
  ServerOptions options;
  options.api_keys = {"sesame"};
  start(options);
  const Json openai(ask(port(), post("/v1/chat/completions", "{}")).body);
  EXPECT_EQ(openai.text("/error/code"), "invalid_api_key");
  const Json anthropic(ask(port(), post("/v1/messages", "{}")).body);
  EXPECT_EQ(anthropic.text("/type"), "error");
  EXPECT_EQ(anthropic.text("/error/type"), "authentication_error");
  const Json ollama(ask(port(), post("/api/chat", "{}")).body);
  EXPECT_FALSE(ollama.text("/error").empty());
}

TEST_F(ServerTest, OverflowHasTheWordsThatClientsLookFor) {
  start();
  const TestResponse response = complete(chat(std::string(3000, 'x')));
  EXPECT_EQ(response.status, 400);
  const Json error(response.body);
  EXPECT_EQ(error.text("/error/code"), "context_length_exceeded");
  const std::string message = error.text("/error/message");
  for (const char* words : {"maximum context length is 2048 tokens", "exceeds the available context size",
                            "prompt is too long: ", " tokens > 2048 maximum"}) {
    EXPECT_NE(message.find(words), std::string::npos) << words << " in " << message;
  }
}

}  // namespace
}  // namespace orfebre
