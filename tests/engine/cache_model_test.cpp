// Cold and warm over real models of random weights: the same tokens and, bit for bit, the same logprobs.
#include "engine/model_world.h"

namespace orfebre::testing {
namespace {

struct World {
  const char* backend;
  ShapeId shape;
};

class CacheOverModel : public ::testing::TestWithParam<World> {};

TEST_P(CacheOverModel, WarmIsColdInEveryBit) {
  const bool slow = GetParam().backend == std::string("reference");
  ModelWorld roomy(GetParam().backend, GetParam().shape,
                   {.max_context = 512, .max_prefill_rows = 128, .n_kv_blocks = 60, .n_state_slots = 24});
  LifeOptions life{.n_clients = 3, .n_requests = 14, .max_message = 40, .max_reply = 40, .max_prompt = 200};
  if (slow) {
    life.n_requests = 6;
    life.n_spaces = 1;
    EXPECT_GT(expect_warm_as_cold(roomy, 1, {}, life), 0u);
    return;
  }
  EXPECT_GT(expect_warm_as_cold(roomy, 1, {}, life), 500u);
  EXPECT_GT(expect_warm_as_cold(roomy, 2, {.run_ahead = true}, life), 500u);
  ModelWorld tight(GetParam().backend, GetParam().shape,
                   {.max_context = 384, .max_prefill_rows = 40, .n_kv_blocks = 6, .n_state_slots = 6});
  EXPECT_GT(expect_warm_as_cold(tight, 3, {}, life), 100u);
}

std::string name_of(const ::testing::TestParamInfo<World>& world) {
  return world.param.backend + std::string(world.param.shape == ShapeId::kProbe ? "Probe" : "Demo");
}

INSTANTIATE_TEST_SUITE_P(Backends, CacheOverModel,
                         ::testing::Values(World{"cpu", ShapeId::kProbe}, World{"cpu", ShapeId::kDemo},
                                           World{"reference", ShapeId::kDemo}),
                         name_of);

// Short ones; many more and longer ones are in the program soak_cache.
TEST(CachedConversations, AHundredConversationsAreAsIfCold) {
  ModelWorld world("cpu", ShapeId::kDemo,
                   {.max_context = 512, .max_prefill_rows = 128, .n_kv_blocks = 30, .n_state_slots = 14});
  LifeOptions life{.n_clients = 4, .n_requests = 10, .max_message = 30, .max_reply = 20, .max_prompt = 160};
  uint64_t n_saved = 0;
  for (uint64_t seed = 1; seed <= 25 && !HasFailure(); ++seed) {  // of four clients each
    n_saved += expect_warm_as_cold(world, seed, {}, life);
  }
  EXPECT_GT(n_saved, 3000u);
}

}  // namespace
}  // namespace orfebre::testing
