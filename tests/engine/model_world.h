// A scheduler over a real model of random weights, in whose memory everything that nobody uses is poisoned
// after each round.
#pragma once

#include "backend/backend.h"
#include "engine/conversation_life.h"
#include "model/model.h"
#include "support/observing_backend.h"
#include "support/random_weights.h"

#include <string>

namespace orfebre::testing {

class ModelWorld {
 public:
  ModelWorld(const std::string& backend, ShapeId shape, const StepLimits& limits) {
    BackendOptions backend_options;
    backend_options.threads = 1;
    auto observed = std::make_unique<test::ObservingBackend>(make_backend(backend, shape, backend_options),
                                                             [](std::string_view, std::span<const float>) {});
    backend_ = observed.get();
    backend_->on_allocate = [this](void* memory, uint64_t, std::string_view what) {
      if (what == "KV cache") {
        kv_cache_.push_back(static_cast<uint8_t*>(memory));
      } else if (what == "recurrent state") {
        states_ = static_cast<uint8_t*>(memory);
      }
    };
    test::RandomWeights weights(shape);
    model_ = std::make_unique<Model>(std::move(observed), weights, limits, LoadOptions{});
  }

  Model& model() { return *model_; }

  // Everything that `memory` says nobody uses becomes NaN.
  void poison(const SequenceMemory& memory) {
    const uint64_t block_bytes = backend_->info().kv_block_bytes;
    const uint64_t slot_bytes = backend_->info().state_slot_floats * sizeof(float);
    const std::vector<uint8_t> poison(std::max(block_bytes, slot_bytes), 0xFF);
    for (int32_t block = 0; block < memory.kv().n_total(); ++block) {
      for (uint8_t* layer : kv_cache_) {
        if (memory.kv().n_users(block) == 0) {
          backend_->to_device(layer + static_cast<uint64_t>(block) * block_bytes, poison.data(), block_bytes);
        }
      }
    }
    for (int32_t slot = 0; slot < memory.slots().n_total(); ++slot) {
      if (memory.slots().n_users(slot) == 0) {
        backend_->to_device(states_ + static_cast<uint64_t>(slot) * slot_bytes, poison.data(), slot_bytes);
      }
    }
  }

  // The reply to a request that finds nothing cached.
  Reply cold_reply(const Asked& asked) {
    Scheduler scheduler(*model_, {.prefix_cache = false});
    auto stream = std::make_shared<TokenStream>();
    scheduler.enqueue(asked.make(), stream, 0);
    while (!scheduler.idle()) {
      scheduler.run_round();
    }
    Reply reply;
    read_events(*stream, reply);
    return reply;
  }

 private:
  test::ObservingBackend* backend_;
  std::vector<uint8_t*> kv_cache_;
  uint8_t* states_ = nullptr;
  std::unique_ptr<Model> model_;
};

// Token for token and bit for bit, as far as the warm one came.
inline void expect_same_reply(const Exchange& exchange, const Reply& cold) {
  const Reply& warm = exchange.reply;
  if (warm.finish != FinishReason::kCancelled) {
    ASSERT_EQ(warm.finish, cold.finish);
    ASSERT_EQ(warm.tokens.size(), cold.tokens.size());
  }
  ASSERT_LE(warm.tokens.size(), cold.tokens.size());
  for (size_t i = 0; i < warm.tokens.size(); ++i) {
    ASSERT_EQ(warm.tokens[i], cold.tokens[i]) << "token " << i;
    ASSERT_EQ(warm.logprobs[i].logprob, cold.logprobs[i].logprob) << "token " << i;
    ASSERT_EQ(warm.logprobs[i].top, cold.logprobs[i].top) << "token " << i;
  }
}

// Clients who talk for `n_requests`; then each request again by itself. Returns the tokens saved.
inline uint64_t expect_warm_as_cold(ModelWorld& world, uint64_t seed, const EngineOptions& options,
                                    LifeOptions life) {
  life.vocab = world.model().shape().vocab;
  uint64_t n_saved = 0;
  std::vector<Exchange> exchanges;
  {
    Scheduler scheduler(world.model(), options);
    const auto round = [&] {
      scheduler.run_round();
      world.poison(scheduler.memory());
    };
    exchanges = live(scheduler, round, seed, life);
    n_saved = scheduler.stats().cached_prompt_tokens;
  }
  for (size_t i = 0; i < exchanges.size() && !::testing::Test::HasFatalFailure(); ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", request " + std::to_string(i));
    expect_same_reply(exchanges[i], world.cold_reply(exchanges[i].asked));
  }
  return n_saved;
}

}  // namespace orfebre::testing
