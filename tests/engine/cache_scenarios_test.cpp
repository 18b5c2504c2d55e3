// What clients do, over the fake model: how much of each prompt is read, and that the reply is the one that
// the request would get alone.
#include "base/log.h"
#include "engine/conversation.h"

namespace orfebre::testing {
namespace {

constexpr int kVocab = 97;
constexpr FakeOptions kRoomy{
    .max_context = 4096, .max_prefill_rows = 256, .n_kv_blocks = 400, .n_state_slots = 40};

struct Turn {
  std::vector<int32_t> prompt;
  Reply reply;
  int n_read = 0;  // prompt tokens that were processed
};

struct Client {
  explicit Client(const FakeOptions& fake = kRoomy, const EngineOptions& options = {}) : rig(fake, options) {
    rig.executor.on_layer = [this](const Step& step, int layer) {
      n_prefilled += layer == 0 && step.kind == StepKind::kPrefill ? static_cast<int>(step.rows.size()) : 0;
    };
  }

  std::vector<int32_t> words(int n) { return random_ids(random, n, kVocab); }

  // Sends the conversation as it is; the reply must be the one that it gets alone.
  Turn send(const Conversation& conversation, int max_tokens) {
    const Asked asked = conversation.ask(max_tokens);
    Turn turn;
    turn.prompt = asked.request.prompt;
    const auto stream = rig.submit(asked);
    const int before = n_prefilled;
    rig.run_to_end();
    turn.n_read = n_prefilled - before;
    read_events(*stream, turn.reply);
    EXPECT_EQ(turn.reply.tokens, rig.expected(asked).tokens);
    EXPECT_EQ(turn.reply.usage.cached_tokens + turn.n_read, static_cast<int>(turn.prompt.size()));
    return turn;
  }

  Rig rig;
  std::mt19937_64 random{1};
  int n_prefilled = 0;
};

// Tokens of the model's own reading: the prompt and the reply.
std::vector<int32_t> everything(const Turn& turn) {
  std::vector<int32_t> ids = turn.prompt;
  ids.insert(ids.end(), turn.reply.tokens.begin(), turn.reply.tokens.end());
  return ids;
}

TEST(Cache, ATurnReadsItsNewTokensAndAtMost64More) {
  for (const size_t n_shown : {SIZE_MAX, size_t{20}}) {  // with its thinking, and without
    for (const int reply_tokens : {3, 50, 130}) {
      Client client;
      Conversation chat;
      chat.say(client.words(333));
      std::vector<int32_t> before;
      for (int turn = 0; turn < 12; ++turn) {
        chat.say(client.words(1 + turn * 13));
        const Turn got = client.send(chat, reply_tokens);
        const int n_new = static_cast<int>(got.prompt.size()) - common_prefix(got.prompt, before);
        EXPECT_LE(got.n_read, n_new + kBlockTokens) << "turn " << turn << " of " << got.prompt.size();
        before = everything(got);
        chat.hear(got.reply.tokens, n_shown);
      }
    }
  }
}

TEST(Cache, TheSamePromptAgainReadsAtMost64Tokens) {
  for (const int n : {65, 100, 500, 509, 510, 1000}) {  // 509 and 3 that open the reply: whole blocks
    Client client;
    Conversation chat;
    chat.say(client.words(n));
    const Turn cold = client.send(chat, 10);
    EXPECT_EQ(cold.n_read, n + 3);
    EXPECT_EQ(cold.reply.usage.cached_tokens, 0);
    for (int again = 0; again < 2; ++again) {
      const Turn warm = client.send(chat, 10);
      EXPECT_LE(warm.n_read, 64);
      EXPECT_GE(warm.n_read, 1);
      EXPECT_EQ(warm.reply.tokens, cold.reply.tokens);
      ASSERT_EQ(warm.reply.logprobs.size(), cold.reply.logprobs.size());
      for (size_t i = 0; i < warm.reply.logprobs.size(); ++i) {
        EXPECT_EQ(warm.reply.logprobs[i].logprob, cold.reply.logprobs[i].logprob);
        EXPECT_EQ(warm.reply.logprobs[i].top, cold.reply.logprobs[i].top);
      }
    }
  }
}

TEST(Cache, ACommonSystemMessageIsReadOnce) {
  Client client;
  Conversation common;
  common.say(client.words(700));
  for (int i = 0; i < 10; ++i) {
    Conversation chat = common;
    const int n_message = 10 + 17 * i;
    chat.say(client.words(n_message));
    const Turn got = client.send(chat, 5);
    if (i > 0) {
      EXPECT_LE(got.n_read, n_message + 3 + kBlockTokens);
    }
  }
}

TEST(Cache, EditsAndRegenerationsReadFromWhereTheyPart) {
  Client client;
  Conversation chat;
  chat.say(client.words(300));
  std::vector<Conversation> turns;
  for (int turn = 0; turn < 4; ++turn) {
    chat.say(client.words(80));
    turns.push_back(chat);
    chat.hear(client.send(chat, 100).reply.tokens);
  }
  for (Conversation old : turns) {
    EXPECT_LE(client.send(old, 100).n_read, 64) << "regenerated";
    old.messages.back() = client.words(90);
    EXPECT_LE(client.send(old, 100).n_read, 90 + 3 + 64) << "edited";
  }
}

TEST(Cache, AnEditInALongPromptGoesBackByAStride) {
  Client client;
  Conversation chat;
  chat.say(client.words(3500));
  client.send(chat, 1);
  for (const int at : {3400, 2500, 1100}) {
    Conversation edited = chat;
    edited.messages[0][static_cast<size_t>(at)] = (edited.messages[0][static_cast<size_t>(at)] + 1) % kVocab;
    EXPECT_LE(client.send(edited, 1).n_read, 3503 - at + 2 * 1024);
  }
}

TEST(Cache, NobodySharesAcrossNamespaces) {
  Client client;
  Conversation chat;
  chat.say(client.words(500));
  client.send(chat, 5);
  chat.space = 1;
  EXPECT_EQ(client.send(chat, 5).n_read, 503);
  EXPECT_LE(client.send(chat, 5).n_read, 64);
}

TEST(Cache, APromptThatWasCutShortGoesOnWhereItStopped) {
  Client client({.max_context = 2048, .max_prefill_rows = 128, .n_kv_blocks = 100, .n_state_slots = 16});
  Conversation chat;
  chat.say(client.words(1000));
  const auto stream = client.rig.submit(chat.ask(5));
  for (int i = 0; i < 3; ++i) {
    client.rig.run_round();
  }
  stream->cancel();
  client.rig.run_to_end();
  EXPECT_EQ(client.send(chat, 5).reply.usage.cached_tokens, 384);
}

TEST(Cache, AForwardThatWasCancelledLeavesNothingBehind) {
  Client client({.max_context = 2048, .max_prefill_rows = 128, .n_kv_blocks = 100, .n_state_slots = 16});
  Conversation chat;
  chat.say(client.words(1000));
  const auto stream = client.rig.submit(chat.ask(5));
  const auto count = client.rig.executor.on_layer;
  int n_forward = 0;
  client.rig.executor.on_layer = [&](const Step&, int layer) {
    if (layer == 2 && ++n_forward == 3) {
      stream->cancel();
    }
  };
  client.rig.run_to_end();
  client.rig.executor.on_layer = count;
  EXPECT_EQ(client.send(chat, 5).reply.usage.cached_tokens, 256);
}

TEST(Cache, ACancelledReplyIsKeptAsFarAsItCame) {
  Client client;
  Conversation chat;
  chat.say(client.words(200));
  const Asked asked = chat.ask(500);
  const auto stream = client.rig.submit(asked);
  for (int i = 0; i < 150; ++i) {
    client.rig.run_round();
  }
  stream->cancel();
  client.rig.run_to_end();
  Reply reply;
  read_events(*stream, reply);
  ASSERT_GT(reply.tokens.size(), 100u);
  chat.hear(reply.tokens);
  chat.say(client.words(20));
  EXPECT_LE(client.send(chat, 5).n_read, 20 + 3 + 64);
}

TEST(Cache, NoStateOfAnOutputThatWasNotFiniteIsUsedAgain) {
  Client client;
  Conversation chat;
  chat.say(client.words(400));
  std::replace(chat.messages[0].begin(), chat.messages[0].end(), 96, 1);
  client.send(chat, 5);
  chat.say(std::vector<int32_t>(100, 96));
  client.rig.executor.poison_token = 96;
  const auto stream = client.rig.submit(chat.ask(5));
  client.rig.run_to_end();
  Reply reply;
  read_events(*stream, reply);
  ASSERT_EQ(reply.finish, FinishReason::kError);
  EXPECT_GT(reply.usage.cached_tokens, 0);
  client.rig.executor.poison_token = -1;
  EXPECT_EQ(client.send(chat, 5).reply.usage.cached_tokens, 0);
}

// Where decode steps round in another way than prefill steps, what they left must not be found.
TEST(Cache, OnlyExactStatesAreKept) {
  for (const bool exact : {false, true}) {
    FakeOptions fake = kRoomy;
    fake.decode_state_is_exact = exact;
    Client client(fake);
    Conversation chat;
    chat.say(client.words(300));
    for (int turn = 0; turn < 5; ++turn) {
      chat.say(client.words(10));
      const Turn got = client.send(chat, 200);
      if (turn > 0) {
        EXPECT_EQ(got.n_read > 200, !exact);
        EXPECT_LE(got.n_read, 200 + 13 + 3 + 64);
      }
      chat.hear(got.reply.tokens);
    }
  }
}

TEST(Cache, ThreeAgentsOnTwoRunningSlotsHitEveryTurn) {
  Client client({.max_context = 8192, .max_prefill_rows = 256, .n_kv_blocks = 600, .n_state_slots = 24},
                {.max_running = 2});
  struct Agent {
    Conversation chat;
    std::vector<int32_t> before;
    std::shared_ptr<TokenStream> stream;
    Reply reply;
    int n_turns = 0;
  };
  std::vector<Agent> agents(3);
  for (Agent& agent : agents) {
    agent.chat.say(client.words(1500));
  }
  for (bool busy = true; busy;) {
    busy = false;
    for (Agent& agent : agents) {
      if (agent.stream == nullptr && agent.n_turns < 50) {
        agent.chat.say(client.words(25));
        agent.reply = {};
        agent.stream = client.rig.submit(agent.chat.ask(35));
      }
      busy = busy || agent.stream != nullptr;
    }
    client.rig.run_round();
    EXPECT_LE(client.rig.scheduler.stats().running, 2);
    for (Agent& agent : agents) {
      if (agent.stream == nullptr || !agent.stream->ended()) {
        continue;
      }
      read_events(*agent.stream, agent.reply);
      const Asked asked = agent.chat.ask(35);
      ASSERT_EQ(agent.reply.tokens, client.rig.expected(asked).tokens);
      const std::vector<int32_t>& prompt = asked.request.prompt;
      if (agent.n_turns > 0) {
        const int n_new = static_cast<int>(prompt.size()) - common_prefix(prompt, agent.before);
        EXPECT_LE(static_cast<int>(prompt.size()) - agent.reply.usage.cached_tokens, n_new + 64)
            << "turn " << agent.n_turns;
      }
      agent.before = prompt;
      agent.before.insert(agent.before.end(), agent.reply.tokens.begin(), agent.reply.tokens.end());
      agent.chat.hear(agent.reply.tokens);
      agent.stream = nullptr;
      ++agent.n_turns;
    }
  }
}

// After each turn of the chat a client asks for a title and for follow-up questions, and helpers of an agent
// pass by with a system message of their own: none of it comes again.
TEST(Cache, PassingRequestsDoNotEvictTheMainChat) {
  Client client({.max_context = 4096, .max_prefill_rows = 256, .n_kv_blocks = 300, .n_state_slots = 16});
  Conversation chat;
  chat.say(client.words(800));
  const std::vector<int32_t> helpers_system = client.words(600);
  std::vector<int32_t> before;
  for (int turn = 0; turn < 12; ++turn) {
    chat.say(client.words(60));
    const Turn got = client.send(chat, 40);
    const int n_new = static_cast<int>(got.prompt.size()) - common_prefix(got.prompt, before);
    EXPECT_LE(got.n_read, n_new + 64) << "turn " << turn;
    before = everything(got);
    chat.hear(got.reply.tokens);
    for (int passing = 0; passing < 4; ++passing) {
      Conversation other;
      other.say(passing < 2 ? client.words(50) : helpers_system);
      client.send(other.say(client.words(passing < 2 ? 400 : 100)), 20);
    }
  }
  EXPECT_GT(client.rig.scheduler.stats().cache_evictions, 50u)
      << "there is room for all: the test shows nothing";
}

TEST(Cache, NeverHoldsUpARequest) {
  Client client({.max_context = 1024, .max_prefill_rows = 256, .n_kv_blocks = 33, .n_state_slots = 6});
  for (int i = 0; i < 10; ++i) {  // all memory is the cache's
    Conversation chat;
    client.send(chat.say(client.words(500)), 3);
  }
  std::vector<std::shared_ptr<TokenStream>> streams;
  for (int i = 0; i < 3; ++i) {
    Conversation chat;
    streams.push_back(client.rig.submit(chat.say(client.words(600)).ask(30)));
  }
  client.rig.run_round();
  EXPECT_EQ(client.rig.scheduler.stats().running, 3);
  EXPECT_EQ(client.rig.scheduler.stats().waiting, 0);
  client.rig.run_to_end();
  EXPECT_EQ(client.rig.scheduler.stats().preempted, 0u);
  client.rig.expect_all_returned();
}

TEST(Cache, ASingleSequenceOfMemoryStillWorks) {
  Client client({.max_context = 512, .max_prefill_rows = 256, .n_kv_blocks = 8, .n_state_slots = 2});
  Conversation chat;
  chat.say(client.words(300));
  for (int i = 0; i < 4; ++i) {
    client.send(chat, 200);
  }
  client.rig.expect_all_returned();
}

TEST(Cache, SwitchedOffItKeepsNothing) {
  Client client(kRoomy, {.prefix_cache = false});
  Conversation chat;
  chat.say(client.words(500));
  EXPECT_EQ(client.send(chat, 100).n_read, 503);
  EXPECT_EQ(client.send(chat, 100).n_read, 503);
  const EngineStats stats = client.rig.scheduler.stats();
  EXPECT_EQ(stats.free_kv_blocks, stats.total_kv_blocks);
  EXPECT_EQ(stats.free_state_slots, stats.total_state_slots);
}

TEST(Cache, AReplyKeepsTheStateNearItsEndAlone) {
  Client client;
  Conversation chat;
  chat.say(client.words(100));
  client.send(chat, 1000);
  EXPECT_EQ(client.rig.scheduler.stats().cache_snapshots,
            2);  // after 64 tokens of the prompt, and after 1088
  EXPECT_EQ(client.rig.scheduler.stats().cache_blocks, 17);
}

TEST(Cache, TracesWhyWithoutSayingWhat) {
  Client client;
  Conversation chat;
  chat.say(client.words(509));
  std::replace(chat.messages[0].begin(), chat.messages[0].end(), 77, 1);
  chat.generation_header = {77, 77, 77};
  set_log_level(LogLevel::kTrace);
  ::testing::internal::CaptureStderr();
  client.send(chat, 1);
  client.send(chat, 1);
  Conversation other;
  client.send(other.say({chat.messages[0].begin(), chat.messages[0].begin() + 100}), 1);
  const std::string log = ::testing::internal::GetCapturedStderr();
  set_log_level(LogLevel::kInfo);
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 3) << log;
  EXPECT_NE(log.find("prompt of 512 tokens, 0 in common with an earlier one, 0 reused"), std::string::npos)
      << log;
  EXPECT_NE(log.find("512 in common with an earlier one, 448 reused"), std::string::npos) << log;
  EXPECT_NE(log.find("100 in common with an earlier one, 0 reused"), std::string::npos) << log;
  EXPECT_NE(log.find("no state kept closer to where they part"), std::string::npos) << log;
}

TEST(Cache, CountsWhatItSaves) {
  Client client;
  Conversation chat;
  chat.say(client.words(509));  // 8 blocks with what opens the reply
  client.send(chat, 1);
  client.send(chat, 1);
  const EngineStats stats = client.rig.scheduler.stats();
  EXPECT_EQ(stats.prompt_tokens, 1024u);
  EXPECT_EQ(stats.cached_prompt_tokens, 448u);
  EXPECT_EQ(stats.cache_lookups, 2u);
  EXPECT_EQ(stats.cache_hits, 1u);
  EXPECT_EQ(stats.cache_evictions, 0u);
  EXPECT_EQ(stats.cache_snapshots, 2);  // after 448 tokens, and after the whole prompt
  EXPECT_EQ(stats.cache_blocks, 8);
  EXPECT_EQ(stats.cache_bytes, 8u * 1000 + 2u * 70000);
}

}  // namespace
}  // namespace orfebre::testing
