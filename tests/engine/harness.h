// What the engine's tests have in common: requests, and replies read from a stream.
#pragma once

#include "engine/fake_executor.h"
#include "engine/policies.h"
#include "engine/scheduler.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

namespace orfebre::testing {

// A whole stream, read to its end.
struct Reply {
  std::vector<int32_t> tokens;
  std::vector<TokenLogprobs> logprobs;
  std::vector<int> progress;
  std::optional<FinishReason> finish;
  std::optional<Error> error;
  Usage usage;
  int n_after_finish = 0;   // events that came after the last one: never
  int n_late_progress = 0;  // progress of the prompt after a token of the reply: never
};

// Takes what has arrived; does not wait.
inline void read_events(TokenStream& stream, Reply& reply) {
  while (std::optional<TokenEvent> event = stream.try_next()) {
    reply.n_after_finish += reply.finish ? 1 : 0;
    if (event->id >= 0) {
      reply.tokens.push_back(event->id);
      if (event->logprobs) {
        reply.logprobs.push_back(*event->logprobs);
      }
    } else if (event->finish) {
      reply.finish = event->finish;
      reply.error = event->error;
      reply.usage = event->usage;
    } else {
      reply.progress.push_back(event->prefilled_tokens);
      reply.n_late_progress += reply.tokens.empty() ? 0 : 1;
    }
  }
}

inline std::vector<int32_t> random_ids(std::mt19937_64& random, int n, int vocab) {
  std::vector<int32_t> ids;
  for (int i = 0; i < n; ++i) {
    ids.push_back(static_cast<int32_t>(random() % static_cast<uint64_t>(vocab)));
  }
  return ids;
}

// A request and what makes it again.
struct Asked {
  Request request;  // without its policy
  PolicyMaker make_policy;

  Request make() const {
    Request copy;
    copy.prompt = request.prompt;
    copy.sampling = request.sampling;
    copy.max_tokens = request.max_tokens;
    copy.stop_ids = request.stop_ids;
    copy.n_top_logprobs = request.n_top_logprobs;
    copy.snapshot_at = request.snapshot_at;
    copy.cache_namespace = request.cache_namespace;
    copy.policy = make_policy ? make_policy() : nullptr;
    return copy;
  }
};

inline Asked random_request(std::mt19937_64& random, int max_prompt, int max_reply, int vocab) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint64_t>(n)); };
  Asked asked;
  Request& request = asked.request;
  request.prompt = random_ids(random, 1 + below(max_prompt), vocab);
  request.max_tokens = below(4) == 0 ? 0 : 1 + below(max_reply);
  if (below(2) == 0) {
    request.stop_ids = random_ids(random, 1 + below(2), vocab);
  }
  SamplingParams& s = request.sampling;
  s.temperature = below(2) == 0 ? 0.0f : 0.1f * static_cast<float>(1 + below(20));
  s.seed = random();
  s.top_k = below(30);
  s.presence_penalty = below(2) == 0 ? 0.0f : 1.5f;
  s.frequency_penalty = below(2) == 0 ? 0.0f : 0.3f;
  s.repetition_penalty = below(2) == 0 ? 1.0f : 1.2f;
  for (int i = below(3); i > 0; --i) {
    s.logit_bias.emplace_back(below(vocab), static_cast<float>(below(9) - 4));
  }
  request.n_top_logprobs = below(3) - 1;
  const int kind = below(4);
  if (kind == 0) {
    const int stop_divisor = 7 + below(30);
    asked.make_policy = [=] { return std::make_unique<ForcingPolicy>(vocab, stop_divisor); };
  } else if (kind == 1) {
    asked.make_policy = [=] { return std::make_unique<MaskingPolicy>(vocab); };
  }
  return asked;
}

// A scheduler over the fake model with a clock that only its steps move.
struct Rig {
  explicit Rig(const FakeOptions& fake = {}, EngineOptions options = {})
      : executor(fake), scheduler(executor, options, [this] { return now; }) {}

  std::shared_ptr<TokenStream> submit(const Asked& asked) {
    auto stream = std::make_shared<TokenStream>();
    scheduler.enqueue(asked.make(), stream, now);
    return stream;
  }

  // Runs until nothing is left. A scheduler that makes no progress fails the test.
  void run_to_end(int max_rounds = 20000) {
    for (int i = 0; !scheduler.idle(); ++i) {
      ASSERT_LT(i, max_rounds) << "the scheduler makes no progress";
      run_round();
    }
  }

  // A round, and then the end of everything in memory that nobody uses.
  void run_round() {
    scheduler.run_round();
    const SequenceMemory& memory = scheduler.memory();
    for (int32_t slot = 0; slot < memory.slots().n_total(); ++slot) {
      if (memory.slots().n_users(slot) == 0) {
        executor.poison_slot(slot);
      }
    }
    for (int32_t block = 0; block < memory.kv().n_total(); ++block) {
      if (memory.kv().n_users(block) == 0) {
        executor.poison_block(block);
      }
    }
  }

  // Sequences hold nothing, and neither does the cache once it is emptied.
  void expect_all_returned() {
    EngineStats stats = scheduler.stats();
    EXPECT_EQ(stats.free_kv_blocks + stats.cache_blocks, stats.total_kv_blocks);
    EXPECT_EQ(stats.free_state_slots + stats.cache_snapshots, stats.total_state_slots);
    scheduler.clear_cache();
    stats = scheduler.stats();
    EXPECT_EQ(stats.free_kv_blocks, stats.total_kv_blocks);
    EXPECT_EQ(stats.free_state_slots, stats.total_state_slots);
    EXPECT_EQ(stats.running, 0);
    EXPECT_EQ(stats.waiting, 0);
  }

  ExpectedReply expected(const Asked& asked) const {
    return expected_reply(asked.request, asked.make_policy, scheduler.max_context(), executor.shape().vocab,
                          scheduler.n_vocab());
  }

  double now = 0;
  FakeExecutor executor;
  Scheduler scheduler;
};

}  // namespace orfebre::testing
