// Random conversations over the fake model and pools of any size: every reply is the one that its request
// would get alone, and what the cache keeps is never missing elsewhere.
#include "engine/conversation_life.h"

namespace orfebre::testing {
namespace {

struct Savings {
  uint64_t cached_tokens = 0;
  uint64_t evictions = 0;
  uint64_t preempted = 0;
};

Savings run_life(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint64_t>(n)); };
  FakeOptions fake;
  fake.max_context = 64 * (8 + below(8));
  fake.n_kv_blocks = below(2) == 0 ? 7 + below(5) : 20 + below(100);
  fake.n_state_slots = below(3) == 0 ? 2 + below(5) : 6 + below(30);
  const int prefill_rows[] = {7, 64, 128, 500};
  fake.max_prefill_rows = prefill_rows[below(4)];
  fake.deferred = below(2) == 0;
  fake.decode_state_is_exact = below(3) > 0;
  EngineOptions options;
  options.run_ahead = fake.deferred || below(2) == 0;
  options.max_running = below(4);
  options.snapshot_stride = 64 << below(4);
  Rig rig(fake, options);
  LifeOptions life;
  life.n_requests = 30;
  life.n_clients = 1 + below(5);
  for (const Exchange& exchange : live(
           rig.scheduler, [&] { rig.run_round(); }, seed, life)) {
    const ExpectedReply expected = rig.expected(exchange.asked);
    const std::vector<int32_t>& tokens = exchange.reply.tokens;
    if (exchange.reply.finish == FinishReason::kCancelled) {
      EXPECT_TRUE(exchange.cancelled);
      EXPECT_EQ(common_prefix(tokens, expected.tokens), static_cast<int>(tokens.size()));
    } else {
      EXPECT_EQ(exchange.reply.finish, expected.finish);
      EXPECT_EQ(tokens, expected.tokens);
    }
  }
  const EngineStats stats = rig.scheduler.stats();
  rig.expect_all_returned();
  return {stats.cached_prompt_tokens, stats.cache_evictions, stats.preempted};
}

TEST(CacheProperties, EveryReplyIsTheOneItWouldBeCold) {
  Savings all;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Savings one = run_life(seed);
    all.cached_tokens += one.cached_tokens;
    all.evictions += one.evictions;
    all.preempted += one.preempted;
    if (::testing::Test::HasFailure()) {
      break;
    }
  }
  EXPECT_GT(all.cached_tokens, 150000u);
  EXPECT_GT(all.evictions, 1500u);
  EXPECT_GT(all.preempted, 10u);
}

}  // namespace
}  // namespace orfebre::testing
