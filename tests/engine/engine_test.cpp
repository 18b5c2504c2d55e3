// The engine from outside: many threads, refusals, failures, shutting down.
#include "engine/engine.h"
#include "engine/harness.h"

#include <gmock/gmock.h>

#include <latch>
#include <thread>

namespace orfebre::testing {
namespace {

using std::chrono::milliseconds;

Request request(int n_prompt, int max_tokens) {
  Request request;
  request.prompt.assign(static_cast<size_t>(n_prompt), 7);
  request.max_tokens = max_tokens;
  request.sampling.temperature = 0;
  return request;
}

Reply read_to_end(TokenStream& stream) {
  Reply reply;
  while (!reply.finish) {
    const std::optional<TokenEvent> event = stream.next(milliseconds(60000));
    if (!event) {
      ADD_FAILURE() << "no event for a minute";
      return reply;
    }
    if (event->id >= 0) {
      reply.tokens.push_back(event->id);
    }
    reply.finish = event->finish;
    reply.error = event->error;
    reply.usage = event->usage;
  }
  reply.n_after_finish = stream.try_next() ? 1 : 0;
  return reply;
}

ErrorKind refusal(Engine& engine, Request request, const std::string& word) {
  try {
    engine.submit(std::move(request));
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr(word));
    return error.kind();
  }
  ADD_FAILURE() << "was not refused: " << word;
  return ErrorKind::kInternal;
}

TEST(Engine, RefusesWhatItCannotRun) {
  Engine engine(std::make_unique<FakeExecutor>(FakeOptions{}), {.n_vocab = 90});
  EXPECT_EQ(engine.max_context(), 512);
  EXPECT_EQ(refusal(engine, request(0, 1), "at least one token"), ErrorKind::kInvalidRequest);
  EXPECT_EQ(refusal(engine, request(512, 1), "512 tokens leave no room"), ErrorKind::kContextLength);
  EXPECT_EQ(refusal(engine, request(512, 1), "exceeds the available context size"),
            ErrorKind::kContextLength);
  EXPECT_EQ(refusal(engine, request(100000, 1), "maximum context length is 512"), ErrorKind::kContextLength);
  Request bad = request(5, 1);
  bad.prompt[2] = 90;
  EXPECT_EQ(refusal(engine, std::move(bad), "from 0 to 89, found 90"), ErrorKind::kInvalidRequest);
  bad = request(5, 1);
  bad.prompt[2] = -1;
  EXPECT_EQ(refusal(engine, std::move(bad), "found -1"), ErrorKind::kInvalidRequest);
  bad = request(5, 1);
  bad.stop_ids = {3, 500};
  EXPECT_EQ(refusal(engine, std::move(bad), "found 500"), ErrorKind::kInvalidRequest);
  EXPECT_EQ(refusal(engine, request(5, -3), "max_tokens"), ErrorKind::kInvalidRequest);
  bad = request(5, 1);
  bad.n_top_logprobs = 21;
  EXPECT_EQ(refusal(engine, std::move(bad), "top_logprobs"), ErrorKind::kInvalidRequest);
  bad = request(5, 1);
  bad.sampling.top_p = 0;
  EXPECT_EQ(refusal(engine, std::move(bad), "top_p"), ErrorKind::kInvalidRequest);
  EXPECT_EQ(read_to_end(*engine.submit(request(511, 0))).finish, FinishReason::kLength);
}

TEST(Engine, ServesManyThreadsAtOnce) {
  constexpr int kThreads = 6;
  constexpr int kRequests = 15;
  for (const bool run_ahead : {false, true}) {
    FakeOptions fake;
    fake.n_kv_blocks = 12;
    fake.n_state_slots = 8;
    Engine engine(std::make_unique<FakeExecutor>(fake), {.run_ahead = run_ahead});
    std::vector<std::thread> clients;
    for (int c = 0; c < kThreads; ++c) {
      clients.emplace_back([&engine, &fake, c] {
        std::mt19937_64 random(static_cast<uint64_t>(c));
        for (int i = 0; i < kRequests; ++i) {
          const Asked asked = random_request(random, 100, 80, fake.vocab);
          const auto stream = engine.submit(asked.make());
          const bool leaves = random() % 4 == 0;
          if (leaves) {
            stream->next(milliseconds(random() % 3));
            stream->cancel();
          }
          const Reply reply = read_to_end(*stream);
          EXPECT_EQ(reply.n_after_finish, 0);
          const ExpectedReply expected =
              expected_reply(asked.request, asked.make_policy, engine.max_context(), fake.vocab, fake.vocab);
          if (!leaves) {
            EXPECT_EQ(reply.tokens, expected.tokens);
            EXPECT_EQ(reply.finish, expected.finish);
          } else {
            EXPECT_TRUE(reply.finish == FinishReason::kCancelled || reply.finish == expected.finish);
          }
        }
      });
    }
    for (std::thread& client : clients) {
      client.join();
    }
    engine.shut_down();
    const EngineStats stats = engine.stats();
    EXPECT_EQ(stats.finished + stats.cancelled, static_cast<uint64_t>(kThreads * kRequests));
    EXPECT_EQ(stats.failed, 0u);
    EXPECT_EQ(stats.free_kv_blocks + stats.cache_blocks, stats.total_kv_blocks);
    EXPECT_EQ(stats.free_state_slots + stats.cache_snapshots, stats.total_state_slots);
    EXPECT_TRUE(stats.healthy);
  }
}

// A model that waits in its first layer until it is let go.
struct Gate {
  std::latch reached{1};
  std::latch open{1};
  std::function<void(const Step&, int)> hook() {
    return [this, passed = false](const Step&, int) mutable {
      if (!passed) {
        passed = true;
        reached.count_down();
        open.wait();
      }
    };
  }
};

TEST(Engine, RefusesMoreThanTheQueueTakes) {
  Gate gate;
  auto executor = std::make_unique<FakeExecutor>(FakeOptions{.n_state_slots = 4});  // two run
  executor->on_layer = gate.hook();
  Engine engine(std::move(executor), {.max_waiting = 3});
  std::vector<std::shared_ptr<TokenStream>> streams;
  for (int i = 0; i < 5; ++i) {
    streams.push_back(engine.submit(request(20, 2)));
  }
  EXPECT_EQ(refusal(engine, request(20, 2), "at most 5 requests"), ErrorKind::kOverloaded);
  gate.open.count_down();
  for (const auto& stream : streams) {
    EXPECT_EQ(read_to_end(*stream).finish, FinishReason::kLength);
  }
  EXPECT_EQ(read_to_end(*engine.submit(request(20, 2))).finish, FinishReason::kLength);
}

TEST(Engine, CountsRequestsWhileARoundLasts) {
  Gate gate;
  auto executor = std::make_unique<FakeExecutor>(FakeOptions{});
  executor->on_layer = gate.hook();
  Engine engine(std::move(executor), {});
  const auto stream = engine.submit(request(100, 1));
  gate.reached.wait();
  const EngineStats stats = engine.stats();
  EXPECT_EQ(stats.running + stats.waiting, 1);
  gate.open.count_down();
  EXPECT_EQ(read_to_end(*stream).finish, FinishReason::kLength);
}

TEST(Engine, AClientThatLeavesInAPrefillFreesItWithinALayer) {
  Gate gate;
  auto executor = std::make_unique<FakeExecutor>(FakeOptions{});
  executor->on_layer = gate.hook();
  Engine engine(std::move(executor), {});
  const auto stream = engine.submit(request(100, 0));
  gate.reached.wait();
  stream->cancel();
  gate.open.count_down();
  const Reply reply = read_to_end(*stream);
  EXPECT_EQ(reply.finish, FinishReason::kCancelled);
  EXPECT_TRUE(reply.tokens.empty());
}

TEST(Engine, AFailureOfTheBackendEndsEverythingAndIsRemembered) {
  Gate gate;
  auto executor = std::make_unique<FakeExecutor>(FakeOptions{.n_state_slots = 4});
  executor->on_layer = [hook = gate.hook(), n_calls = 0](const Step& step, int layer) mutable {
    hook(step, layer);
    if (++n_calls == 30) {
      fail(ErrorKind::kBackend, "device lost");
    }
  };
  Engine engine(std::move(executor), {});
  std::vector<std::shared_ptr<TokenStream>> streams;
  for (int i = 0; i < 6; ++i) {
    streams.push_back(engine.submit(request(20, 0)));
  }
  gate.open.count_down();
  for (const auto& stream : streams) {
    const Reply reply = read_to_end(*stream);
    EXPECT_EQ(reply.finish, FinishReason::kError);
    ASSERT_TRUE(reply.error.has_value());
    EXPECT_EQ(reply.error->kind(), ErrorKind::kBackend);
    EXPECT_THAT(reply.error->what(), ::testing::HasSubstr("device lost"));
    EXPECT_EQ(reply.n_after_finish, 0);
  }
  EXPECT_EQ(refusal(engine, request(20, 2), "device lost"), ErrorKind::kBackend);
  engine.shut_down();
  EXPECT_FALSE(engine.stats().healthy);
  EXPECT_EQ(engine.stats().failed, 6u);
}

TEST(Engine, ShutsDownInTheMiddleOfAPrefill) {
  Gate gate;
  auto executor = std::make_unique<FakeExecutor>(FakeOptions{.n_state_slots = 2});
  executor->on_layer = gate.hook();
  Engine engine(std::move(executor), {});
  std::vector<std::shared_ptr<TokenStream>> streams;
  for (int i = 0; i < 5; ++i) {
    streams.push_back(engine.submit(request(300, 0)));
  }
  gate.reached.wait();
  std::thread stopper([&engine] { engine.shut_down(); });
  while (!streams.back()->cancelled().load()) {
    std::this_thread::yield();
  }
  gate.open.count_down();
  engine.shut_down();
  stopper.join();
  for (const auto& stream : streams) {
    EXPECT_TRUE(stream->ended());
    EXPECT_EQ(read_to_end(*stream).finish, FinishReason::kCancelled);
  }
  EXPECT_EQ(refusal(engine, request(20, 2), "shutting down"), ErrorKind::kUnavailable);
  EXPECT_EQ(engine.stats().free_state_slots, 2);
}

TEST(Engine, ItsDestructorEndsEveryStream) {
  std::shared_ptr<TokenStream> stream;
  {
    Engine engine(std::make_unique<FakeExecutor>(FakeOptions{.max_context = 4000}), {});
    stream = engine.submit(request(20, 0));
  }
  EXPECT_TRUE(stream->ended());
}

}  // namespace
}  // namespace orfebre::testing
