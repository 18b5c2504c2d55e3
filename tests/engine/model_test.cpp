// The scheduler over a real model of random weights: what a reply says depends on its request alone, not on
// who runs beside it, how its prompt was cut, or whether it had to give way and start again.
#include "model/model.h"
#include "backend/reference/reference_backend.h"
#include "engine/harness.h"
#include "support/random_weights.h"

namespace orfebre::testing {
namespace {

std::unique_ptr<Model> make_model(const StepLimits& limits) {
  test::RandomWeights weights(ShapeId::kDemo);
  return std::make_unique<Model>(make_reference_backend(ShapeId::kDemo, {}), weights, limits, LoadOptions{});
}

std::vector<Asked> requests() {
  std::vector<Asked> all;
  const int n_prompt[] = {60, 50, 3};
  for (size_t i = 0; i < std::size(n_prompt); ++i) {
    std::mt19937_64 random(i + 1);
    Asked asked;
    asked.request.prompt = random_ids(random, n_prompt[i], Demo::kVocab);
    asked.request.max_tokens = i == 2 ? 10 : 70;
    asked.request.sampling.temperature = i == 2 ? 0.8f : 0.0f;
    asked.request.sampling.seed = 5;
    asked.request.sampling.presence_penalty = 1.0f;
    asked.request.sampling.repetition_penalty = 1.1f;
    all.push_back(std::move(asked));
  }
  all[1].make_policy = [] { return std::make_unique<ForcingPolicy>(Demo::kVocab, 1 << 20); };
  return all;
}

// Request i arrives in round arrivals[i].
std::vector<std::vector<int32_t>> run(Executor& model, const EngineOptions& options,
                                      const std::vector<int>& arrivals, uint64_t* preempted = nullptr) {
  const std::vector<Asked> asked = requests();
  Scheduler scheduler(model, options);
  std::vector<std::shared_ptr<TokenStream>> streams;
  for (int round = 0; streams.size() < asked.size() || !scheduler.idle(); ++round) {
    while (streams.size() < asked.size() && arrivals[streams.size()] <= round) {
      streams.push_back(std::make_shared<TokenStream>());
      scheduler.enqueue(asked[streams.size() - 1].make(), streams.back(), 0);
    }
    scheduler.run_round();
  }
  std::vector<std::vector<int32_t>> replies;
  for (const auto& stream : streams) {
    Reply reply;
    read_events(*stream, reply);
    EXPECT_EQ(reply.finish, FinishReason::kLength);
    replies.push_back(reply.tokens);
  }
  if (preempted != nullptr) {
    *preempted = scheduler.stats().preempted;
  }
  return replies;
}

TEST(SchedulerOverModel, AReplyDependsOnItsRequestAlone) {
  const auto roomy =
      make_model({.max_context = 256, .max_prefill_rows = 128, .n_kv_blocks = 16, .n_state_slots = 16});
  const auto alone = run(*roomy, {}, {0, 100, 200});
  const EngineOptions ahead{.decode_gap_seconds = 1e-9, .run_ahead = true};
  EXPECT_EQ(run(*roomy, ahead, {0, 3, 4}), alone);

  const auto tight =
      make_model({.max_context = 256, .max_prefill_rows = 32, .n_kv_blocks = 4, .n_state_slots = 4});
  uint64_t preempted = 0;
  EXPECT_EQ(run(*tight, {}, {0, 1, 2}, &preempted), alone);
  EXPECT_GT(preempted, 0u);
}

}  // namespace
}  // namespace orfebre::testing
