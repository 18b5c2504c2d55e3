// Random requests, cancels, policies and pool sizes against the fake model: every stream ends exactly once,
// everything held comes back, and each reply is the one that the request would get alone.
#include "engine/harness.h"

namespace orfebre::testing {
namespace {

struct Pending {
  Asked asked;
  std::shared_ptr<TokenStream> stream;
  Reply reply;
  bool cancelled = false;
};

void check_reply(const Rig& rig, const Pending& pending) {
  ASSERT_TRUE(pending.reply.finish.has_value());
  EXPECT_EQ(pending.reply.n_after_finish, 0);
  EXPECT_EQ(pending.reply.n_late_progress, 0);
  const ExpectedReply expected = rig.expected(pending.asked);
  const std::vector<int32_t>& tokens = pending.reply.tokens;
  if (*pending.reply.finish == FinishReason::kCancelled) {
    EXPECT_TRUE(pending.cancelled);
    ASSERT_LE(tokens.size(), expected.tokens.size());
    EXPECT_TRUE(std::equal(tokens.begin(), tokens.end(), expected.tokens.begin()));
  } else {
    EXPECT_EQ(*pending.reply.finish, expected.finish);
    EXPECT_EQ(tokens, expected.tokens);
  }
  EXPECT_EQ(pending.reply.usage.prompt_tokens, static_cast<int>(pending.asked.request.prompt.size()));
  EXPECT_EQ(pending.reply.usage.reply_tokens, static_cast<int>(tokens.size()));
  const bool wants_logprobs = pending.asked.request.n_top_logprobs >= 0;
  EXPECT_EQ(pending.reply.logprobs.size(), wants_logprobs ? tokens.size() : 0u);
}

// One random life of a scheduler; returns how often it preempted.
uint64_t run_life(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint64_t>(n)); };
  FakeOptions fake;
  fake.max_context = 64 * (2 + below(7)) - below(3);
  fake.n_kv_blocks = below(3) == 0 ? 4 + below(40) : 2 + below(10);
  fake.n_state_slots = 2 + below(15);
  const int prefill_rows[] = {1, 7, 64, 100, 128, 500};
  fake.max_prefill_rows = prefill_rows[below(6)];
  fake.deferred = below(2) == 0;
  EngineOptions options;
  options.run_ahead = fake.deferred || below(2) == 0;
  options.n_vocab = below(2) == 0 ? 0 : 90;
  options.decode_gap_seconds = below(2) == 0 ? 1.0 : 0.01;
  Rig rig(fake, options);
  std::vector<Pending> all;
  const auto cancel_one = [&] {
    Pending& victim = all[static_cast<size_t>(below(static_cast<int>(all.size())))];
    victim.stream->cancel();
    victim.cancelled = true;
  };
  rig.executor.on_layer = [&](const Step& step, int) {
    rig.now += 0.001 * static_cast<double>(step.rows.size());
    if (below(400) == 0) {
      cancel_one();
    }
  };
  const int n_requests = 1 + below(25);
  const int longest = std::min(rig.scheduler.max_context() - 1, below(2) == 0 ? 30 : 300);
  for (int round = 0; static_cast<int>(all.size()) < n_requests || !rig.scheduler.idle(); ++round) {
    if (round > 50000) {
      ADD_FAILURE() << "the scheduler makes no progress";
      break;
    }
    while (static_cast<int>(all.size()) < n_requests && below(4) == 0) {
      Pending pending;
      pending.asked = random_request(random, longest, 250, rig.scheduler.n_vocab());
      pending.stream = rig.submit(pending.asked);
      all.push_back(std::move(pending));
    }
    if (!all.empty() && below(60) == 0) {
      cancel_one();
    }
    rig.run_round();
    for (Pending& pending : all) {
      read_events(*pending.stream, pending.reply);
    }
  }
  for (const Pending& pending : all) {
    check_reply(rig, pending);
  }
  rig.expect_all_returned();
  return rig.scheduler.stats().preempted;
}

TEST(SchedulerProperties, EveryReplyIsTheOneItWouldBeAlone) {
  uint64_t preempted = 0;
  for (uint64_t seed = 1; seed <= 250; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    preempted += run_life(seed);
    if (::testing::Test::HasFailure()) {
      break;
    }
  }
  EXPECT_GT(preempted, 50u) << "the small pools of this test must make sequences give way";
}

}  // namespace
}  // namespace orfebre::testing
