// soak_cache N: N random conversations with edits, branches and cancels over models of random weights, every
// reply compared bit by bit with the cold one. Part of `make test-all`.
#include "engine/model_world.h"

#include <cstdlib>

namespace orfebre::testing {
namespace {

int g_n_conversations = 100;

TEST(Soak, EveryReplyIsTheColdOne) {
  uint64_t n_saved = 0;
  int n_done = 0;
  for (uint64_t seed = 1; n_done < g_n_conversations && !HasFailure(); ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint64_t>(n)); };
    const ShapeId shape = below(4) == 0 ? ShapeId::kProbe : ShapeId::kDemo;
    ModelWorld world("cpu", shape,
                     {.max_context = 1024,
                      .max_prefill_rows = 64 << below(3),
                      .n_kv_blocks = 17 + below(40),
                      .n_state_slots = 4 + below(20)});
    for (int i = 0; i < 5 && !HasFailure(); ++i) {
      LifeOptions life{.n_clients = 5,
                       .n_requests = 20,
                       .max_message = 60,
                       .max_reply = 50,
                       .max_prompt = 400,
                       .n_spaces = 1 + i % 2};
      n_saved += expect_warm_as_cold(world, 100 * seed + static_cast<uint64_t>(i),
                                     {.run_ahead = below(2) == 0}, life);
      n_done += life.n_clients;
    }
    std::printf("%d conversations, %llu tokens not read again\n", n_done,
                static_cast<unsigned long long>(n_saved));
    std::fflush(stdout);
  }
  EXPECT_GT(n_saved, 10u * static_cast<uint64_t>(g_n_conversations));
}

}  // namespace
}  // namespace orfebre::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc > 1) {
    orfebre::testing::g_n_conversations = std::atoi(argv[1]);
  }
  return RUN_ALL_TESTS();
}
