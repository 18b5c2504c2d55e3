// The scheduler's rules, one by one, on one thread and with a clock that only steps move.
#include "engine/harness.h"

#include <algorithm>

namespace orfebre::testing {
namespace {

constexpr int kVocab = 97;

Asked ask(int n_prompt, int max_tokens, uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  Asked asked;
  asked.request.prompt = random_ids(random, n_prompt, kVocab);
  asked.request.max_tokens = max_tokens;
  asked.request.sampling.temperature = 0;
  return asked;
}

Reply reply_of(Rig& rig, const Asked& asked) {
  const auto stream = rig.submit(asked);
  rig.run_to_end();
  Reply reply;
  read_events(*stream, reply);
  return reply;
}

template <class Action>
class LambdaPolicy final : public TokenPolicy {
 public:
  explicit LambdaPolicy(Action action) : action_(std::move(action)) {}
  PolicyVerdict on_token(int32_t id) override { return action_(id); }

 private:
  Action action_;
};

template <class Action>
PolicyMaker policy(Action action) {
  return [action] { return std::make_unique<LambdaPolicy<Action>>(action); };
}

TEST(Scheduler, CutsTheReplyAtMaxTokens) {
  Rig rig;
  const Asked asked = ask(70, 9);
  const Reply reply = reply_of(rig, asked);
  EXPECT_EQ(reply.tokens, rig.expected(asked).tokens);
  EXPECT_EQ(reply.tokens.size(), 9u);
  EXPECT_EQ(reply.finish, FinishReason::kLength);
}

TEST(Scheduler, WithoutMaxTokensTheReplyRunsToTheContextsEnd) {
  for (const int max_tokens : {0, 1000000000}) {
    Rig rig({.max_context = 200});
    const Reply reply = reply_of(rig, ask(150, max_tokens));
    EXPECT_EQ(reply.tokens.size(), 50u);
    EXPECT_EQ(reply.finish, FinishReason::kLength);
  }
}

TEST(Scheduler, ThePoolLimitsTheContext) {
  Rig rig({.max_context = 512, .n_kv_blocks = 2});
  EXPECT_EQ(rig.scheduler.max_context(), 128);
  EXPECT_EQ(reply_of(rig, ask(127, 0)).tokens.size(), 1u);
  EXPECT_EQ(reply_of(rig, ask(1, 0)).tokens.size(), 127u);
}

TEST(Scheduler, TheStoppingTokenIsNotPartOfTheReply) {
  Rig rig;
  Asked asked = ask(20, 30);
  const std::vector<int32_t> free_run = rig.expected(asked).tokens;
  asked.request.stop_ids = {free_run[12]};
  const auto first = std::find(free_run.begin(), free_run.end(), free_run[12]);
  const Reply reply = reply_of(rig, asked);
  EXPECT_EQ(reply.tokens, std::vector<int32_t>(free_run.begin(), first));
  EXPECT_EQ(reply.finish, FinishReason::kStop);
  EXPECT_EQ(rig.scheduler.stats().reply_tokens, reply.tokens.size());
}

TEST(Scheduler, APolicyThatStopsKeepsItsLastToken) {
  Rig rig;
  Asked asked = ask(20, 5);
  const std::vector<int32_t> free_run = rig.expected(asked).tokens;
  auto n = std::make_shared<int>(0);
  asked.make_policy = policy([n](int32_t) {
    return PolicyVerdict{++*n == 5 ? PolicyVerdict::Kind::kStop : PolicyVerdict::Kind::kContinue, {}};
  });
  const Reply reply = reply_of(rig, asked);
  EXPECT_EQ(reply.tokens, free_run);
  EXPECT_EQ(reply.finish, FinishReason::kStop);
}

TEST(Scheduler, ForcedTokensAreTheReplyAndAPolicyHearsThem) {
  Rig rig;
  Asked asked = ask(20, 12);
  auto heard = std::make_shared<std::vector<int32_t>>();
  asked.make_policy = policy([heard](int32_t id) {
    heard->push_back(id);
    if (heard->size() == 2) {
      return PolicyVerdict{PolicyVerdict::Kind::kForce, {40, 41, 42, 43}};
    }
    if (heard->size() == 4) {  // replaces what is left of the first
      return PolicyVerdict{PolicyVerdict::Kind::kForce, {50, 51}};
    }
    return PolicyVerdict{};
  });
  const Reply reply = reply_of(rig, asked);
  ASSERT_EQ(reply.tokens.size(), 12u);
  EXPECT_EQ(std::vector<int32_t>(reply.tokens.begin() + 2, reply.tokens.begin() + 6),
            (std::vector<int32_t>{40, 41, 50, 51}));
  EXPECT_EQ(*heard, reply.tokens);
}

TEST(Scheduler, AForcedIdOutsideTheVocabularyFailsTheRequestAlone) {
  Rig rig;
  Asked bad = ask(20, 12);
  bad.make_policy = policy([](int32_t) { return PolicyVerdict{PolicyVerdict::Kind::kForce, {kVocab}}; });
  const Asked good = ask(20, 12, 2);
  const auto bad_stream = rig.submit(bad);
  const auto good_stream = rig.submit(good);
  rig.run_to_end();
  Reply bad_reply;
  Reply good_reply;
  read_events(*bad_stream, bad_reply);
  read_events(*good_stream, good_reply);
  EXPECT_EQ(bad_reply.finish, FinishReason::kError);
  ASSERT_TRUE(bad_reply.error.has_value());
  EXPECT_EQ(bad_reply.error->kind(), ErrorKind::kInternal);
  EXPECT_EQ(good_reply.tokens, rig.expected(good).tokens);
  EXPECT_EQ(rig.scheduler.stats().failed, 1u);
  rig.expect_all_returned();
}

TEST(Scheduler, AnOutputThatIsNotFiniteFailsTheRequestAlone) {
  Rig rig;
  rig.executor.poison_token = 96;
  Asked bad = ask(20, 12);
  bad.request.prompt[3] = 96;
  Asked good = ask(20, 12, 2);
  std::replace(good.request.prompt.begin(), good.request.prompt.end(), 96, 1);
  good.request.sampling.logit_bias = {{96, -100.0f}};
  const auto bad_stream = rig.submit(bad);
  const auto good_stream = rig.submit(good);
  rig.run_to_end();
  Reply bad_reply;
  Reply good_reply;
  read_events(*bad_stream, bad_reply);
  read_events(*good_stream, good_reply);
  EXPECT_TRUE(bad_reply.tokens.empty());
  ASSERT_TRUE(bad_reply.error.has_value());
  EXPECT_EQ(bad_reply.error->kind(), ErrorKind::kBackend);
  EXPECT_EQ(good_reply.tokens, rig.expected(good).tokens);
  rig.expect_all_returned();
}

class ForbiddingPolicy final : public TokenPolicy {
 public:
  PolicyVerdict on_token(int32_t) override { return {}; }
  bool wants_mask() const override { return true; }
};

TEST(Scheduler, AMaskThatForbidsEveryTokenFailsTheRequest) {
  Rig rig;
  Asked asked = ask(20, 12);
  asked.make_policy = [] { return std::make_unique<ForbiddingPolicy>(); };
  const Reply reply = reply_of(rig, asked);
  EXPECT_TRUE(reply.tokens.empty());
  ASSERT_TRUE(reply.error.has_value());
  EXPECT_EQ(reply.error->kind(), ErrorKind::kInternal);
}

class WitnessPolicy final : public TokenPolicy {
 public:
  explicit WitnessPolicy(std::vector<std::string>& log) : log_(log) {}
  ~WitnessPolicy() override { log_.push_back("gone"); }
  PolicyVerdict on_token(int32_t) override {
    log_.push_back("token");
    return {};
  }
  bool wants_mask() const override { return true; }
  void fill_mask(std::span<uint32_t> words) override {
    log_.push_back("mask");
    std::fill(words.begin(), words.end(), ~0u);
  }

 private:
  std::vector<std::string>& log_;
};

TEST(Scheduler, AMaskIsComputedBetweenForwardAndPick) {
  std::vector<std::string> log;
  Rig rig;
  Asked asked = ask(20, 2);
  asked.make_policy = [&log] { return std::make_unique<WitnessPolicy>(log); };
  rig.executor.on_layer = [&](const Step&, int layer) {
    if (layer == 0) {
      log.push_back("forward");
    }
  };
  rig.executor.on_pick = [&](const PickBatch&) { log.push_back("pick"); };
  const auto stream = rig.submit(asked);
  stream->set_wake([&] { log.push_back("event"); });
  rig.run_to_end();
  EXPECT_EQ(log, (std::vector<std::string>{"forward", "mask", "pick", "token", "event", "forward", "mask",
                                           "pick", "token", "event", "gone", "event"}));
}

TEST(Scheduler, RunningAheadLaunchesTheNextStepBeforeItReadsTheToken) {
  std::vector<std::string> log;
  Rig rig({.deferred = true}, {.run_ahead = true});
  Asked asked = ask(20, 3);
  asked.make_policy = [&log] { return std::make_unique<WitnessPolicy>(log); };
  rig.executor.on_layer = [&](const Step&, int layer) {
    if (layer == 0) {
      log.push_back("forward");
    }
  };
  rig.executor.on_pick = [&](const PickBatch&) { log.push_back("pick"); };
  rig.submit(asked);
  rig.run_to_end();
  EXPECT_EQ(log,
            (std::vector<std::string>{"forward", "mask", "pick", "token",  // the prompt
                                      "forward", "mask", "pick",  // its second token, not yet read ...
                                      "forward", "token", "mask", "pick",  // ... when the third is under way
                                      "token", "gone"}));
}

TEST(Scheduler, RunningAheadDropsTheRowOfAReplyThatEnded) {
  Rig rig({.deferred = true}, {.run_ahead = true});
  rig.executor.keep_steps = true;
  Asked stopping = ask(20, 40);
  const std::vector<int32_t> free_run = rig.expected(stopping).tokens;
  stopping.request.stop_ids = {free_run[10]};
  const Asked other = ask(20, 40, 3);
  const auto stopping_stream = rig.submit(stopping);
  const auto other_stream = rig.submit(other);
  rig.run_to_end();
  Reply stopped;
  Reply reply;
  read_events(*stopping_stream, stopped);
  read_events(*other_stream, reply);
  EXPECT_EQ(stopped.tokens, rig.expected(stopping).tokens);
  EXPECT_EQ(reply.tokens, rig.expected(other).tokens);
  rig.expect_all_returned();
  int last_position = 0;  // of the first sequence, which has lane 0
  for (const Step& step : rig.executor.steps) {
    if (step.sequences[0].lane == 0) {
      last_position = step.rows[0].position;
    }
  }
  EXPECT_EQ(last_position, 20 + static_cast<int>(stopped.tokens.size()))
      << "the stopping token was read in vain";
}

TEST(Scheduler, LogprobsComeOnlyWhenAsked) {
  for (const int n_top : {-1, 0, 5, 20}) {
    Rig rig;
    Asked asked = ask(20, 4);
    asked.request.n_top_logprobs = n_top;
    const Reply reply = reply_of(rig, asked);
    ASSERT_EQ(reply.logprobs.size(), n_top < 0 ? 0u : 4u);
    for (size_t i = 0; i < reply.logprobs.size(); ++i) {
      ASSERT_EQ(reply.logprobs[i].top.size(), static_cast<size_t>(n_top));
      EXPECT_LT(reply.logprobs[i].logprob, 0);
      if (n_top > 0) {  // greedy: the token is the likeliest
        EXPECT_EQ(reply.logprobs[i].top[0].first, reply.tokens[i]);
        EXPECT_EQ(reply.logprobs[i].top[0].second, reply.logprobs[i].logprob);
      }
    }
  }
}

TEST(Scheduler, ALonePromptTakesTheLargestChunks) {
  for (const bool cache : {false, true}) {
    Rig rig({.max_prefill_rows = 200}, {.prefix_cache = cache});
    rig.executor.keep_steps = true;
    reply_of(rig, ask(500, 1));
    std::vector<size_t> rows;
    for (const Step& step : rig.executor.steps) {
      rows.push_back(step.rows.size());
    }
    // Borders at multiples of 64; the cache wants the state at the last of them.
    EXPECT_EQ(rows, cache ? (std::vector<size_t>{192, 192, 64, 52}) : (std::vector<size_t>{192, 192, 116}));
  }
}

TEST(Scheduler, ARunningReplyWaitsNoLongerThanTheGap) {
  constexpr double kGap = 1.0;
  constexpr double kSecondsPerRow = 0.005;  // 200 rows fit the gap
  Rig rig({.max_context = 8192, .max_prefill_rows = 4096, .n_kv_blocks = 128}, {.decode_gap_seconds = kGap});
  rig.executor.keep_steps = true;
  rig.executor.on_layer = [&](const Step& step, int layer) {
    rig.now += layer == 0 ? kSecondsPerRow * static_cast<double>(step.rows.size()) : 0;
  };
  const auto talking = rig.submit(ask(10, 200));
  rig.run_round();
  const Asked long_prompt = ask(3000, 3, 5);
  const auto stream = rig.submit(long_prompt);
  rig.run_to_end();
  Reply reply;
  read_events(*stream, reply);
  EXPECT_EQ(reply.tokens, rig.expected(long_prompt).tokens);
  int n_chunks = 0;
  bool last_was_chunk = false;
  for (const Step& step : rig.executor.steps) {
    const bool chunk = step.kind == StepKind::kPrefill && step.rows.size() > 10;
    EXPECT_FALSE(chunk && last_was_chunk) << "two chunks without a token between them";
    if (chunk) {
      ++n_chunks;
      EXPECT_LE(kSecondsPerRow * static_cast<double>(step.rows.size()), kGap);
      const int end = step.rows.back().position + 1;
      EXPECT_TRUE(end % kBlockTokens == 0 || end == 3000);
    }
    last_was_chunk = chunk;
  }
  EXPECT_GE(n_chunks, 15);
  EXPECT_LE(n_chunks, 20);  // the pace was learnt: chunks of 192 rows but for the first
}

TEST(Scheduler, ProgressIsReportedNowAndThenAndAscends) {
  Rig rig({.max_context = 8192, .max_prefill_rows = 64, .n_kv_blocks = 128});
  rig.executor.on_layer = [&](const Step&, int layer) { rig.now += layer == 0 ? 0.1 : 0; };
  const Reply reply = reply_of(rig, ask(1280, 1));  // 20 chunks in 2 seconds
  EXPECT_GE(reply.progress.size(), 5u);
  EXPECT_LE(reply.progress.size(), 8u);
  EXPECT_TRUE(std::is_sorted(reply.progress.begin(), reply.progress.end()));
  EXPECT_LT(reply.progress.back(), 1280);
}

TEST(Scheduler, RequestsAreAdmittedInOrderOfArrival) {
  Rig rig({.n_state_slots = 2});  // one at a time
  std::vector<std::shared_ptr<TokenStream>> streams;
  std::vector<int> order;
  for (int i = 0; i < 5; ++i) {
    streams.push_back(rig.submit(ask(30 - i, 2, static_cast<uint64_t>(i))));
    streams.back()->set_wake([&order, i] {
      if (order.empty() || order.back() != i) {
        order.push_back(i);
      }
    });
  }
  rig.run_to_end();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(Scheduler, AReplyHoldsNoMoreBlocksThanItHasUseFor) {
  Rig rig;
  rig.submit(ask(65, 0));
  rig.run_round();
  EXPECT_EQ(rig.scheduler.stats().total_kv_blocks - rig.scheduler.stats().free_kv_blocks, 2);
}

TEST(Scheduler, TheYoungestGivesWayAndSaysTheSame) {
  for (const bool run_ahead : {false, true}) {
    Rig rig({.max_context = 320, .n_kv_blocks = 6, .deferred = run_ahead}, {.run_ahead = run_ahead});
    std::vector<Asked> asked;
    std::vector<std::shared_ptr<TokenStream>> streams;
    std::vector<int> finished;
    for (int i = 0; i < 3; ++i) {
      asked.push_back(ask(20, 0, static_cast<uint64_t>(10 + i)));
      asked.back().request.sampling.presence_penalty = 1.0f;
      asked.back().request.sampling.frequency_penalty = 0.5f;
      streams.push_back(rig.submit(asked.back()));
      streams.back()->set_wake([&finished, i, stream = streams.back().get()] {
        if (stream->ended()) {
          finished.push_back(i);
        }
      });
    }
    rig.run_to_end();
    EXPECT_GE(rig.scheduler.stats().preempted, 1u);
    EXPECT_EQ(finished, (std::vector<int>{0, 1, 2}));
    for (size_t i = 0; i < streams.size(); ++i) {
      Reply reply;
      read_events(*streams[i], reply);
      EXPECT_EQ(reply.tokens, rig.expected(asked[i]).tokens);
    }
    rig.expect_all_returned();
  }
}

TEST(Scheduler, CancelsBetweenTheLayersOfAPrefill) {
  Rig rig({.max_prefill_rows = 512});
  const auto stream = rig.submit(ask(500, 10));
  int last_layer = -1;
  rig.executor.on_layer = [&](const Step&, int layer) {
    last_layer = layer;
    if (layer == 1) {
      stream->cancel();
    }
  };
  rig.run_round();
  EXPECT_EQ(last_layer, 1);
  EXPECT_TRUE(stream->ended());
  rig.expect_all_returned();
}

TEST(Scheduler, CancelsAReplyWithinAStep) {
  for (const bool run_ahead : {false, true}) {
    Rig rig({.deferred = run_ahead}, {.run_ahead = run_ahead});
    const auto stream = rig.submit(ask(10, 0));
    for (int i = 0; i < 10; ++i) {
      rig.run_round();
    }
    Reply reply;
    read_events(*stream, reply);
    const size_t n_before = reply.tokens.size();
    stream->cancel();
    rig.run_round();
    read_events(*stream, reply);
    EXPECT_EQ(reply.finish, FinishReason::kCancelled);
    EXPECT_EQ(reply.tokens.size(), n_before);
    rig.expect_all_returned();
  }
}

TEST(Scheduler, CancelsWhoWaitsAndTheNextOneIsNotHeldUp) {
  Rig rig({.n_state_slots = 2});
  const auto running = rig.submit(ask(10, 50));
  const auto waiting = rig.submit(ask(10, 50, 2));
  const Asked asked = ask(10, 5, 3);
  const auto next = rig.submit(asked);
  rig.run_round();
  waiting->cancel();
  rig.run_round();
  Reply reply;
  read_events(*waiting, reply);
  EXPECT_EQ(reply.finish, FinishReason::kCancelled);
  EXPECT_FALSE(running->ended());
  rig.run_to_end();
  Reply next_reply;
  read_events(*next, next_reply);
  EXPECT_EQ(next_reply.tokens, rig.expected(asked).tokens);
}

TEST(Scheduler, UsageTellsWhereTheTimeWent) {
  Rig rig({.n_state_slots = 2});
  rig.executor.on_layer = [&](const Step&, int layer) { rig.now += layer == 0 ? 1.0 : 0; };
  rig.submit(ask(10, 3));                          // 1 prefill and 2 decode steps
  const auto stream = rig.submit(ask(300, 5, 2));  // 3 chunks of at most 128, then 4 steps
  rig.run_to_end();
  Reply reply;
  read_events(*stream, reply);
  EXPECT_EQ(reply.usage.prompt_tokens, 300);
  EXPECT_EQ(reply.usage.reply_tokens, 5);
  EXPECT_EQ(reply.usage.cached_tokens, 0);
  EXPECT_DOUBLE_EQ(reply.usage.queue_seconds, 3.0);
  EXPECT_DOUBLE_EQ(reply.usage.prefill_seconds, 3.0);
  EXPECT_DOUBLE_EQ(reply.usage.decode_seconds, 4.0);
  const EngineStats stats = rig.scheduler.stats();
  EXPECT_EQ(stats.prompt_tokens, 310u);
  EXPECT_EQ(stats.reply_tokens, 8u);
  EXPECT_EQ(stats.finished, 2u);
  EXPECT_DOUBLE_EQ(stats.prefill_seconds + stats.decode_seconds, 10.0);
}

TEST(Scheduler, RefusesAnExecutorWithoutRoomForOneSequence) {
  EXPECT_THROW(Rig({.n_state_slots = 1}), Error);
  EXPECT_THROW(Rig({.n_kv_blocks = 0}), Error);
}

}  // namespace
}  // namespace orfebre::testing
