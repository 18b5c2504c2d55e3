// Clients who talk at random: new turns, regenerated and edited ones, branches, prompts sent again, thinking
// that the next turn drops, replies that nobody waited for.
#pragma once

#include "engine/conversation.h"

#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace orfebre::testing {

struct LifeOptions {
  int n_clients = 3;
  int n_requests = 20;
  int max_message = 100;  // tokens
  int max_reply = 90;
  int max_prompt = 400;  // a conversation that grows longer goes back to an early message
  int vocab = 97;
  int n_spaces = 2;
};

struct Exchange {
  Asked asked;
  Reply reply;
  bool cancelled = false;
};

// All that was said, in the order of the requests. `run_round` runs a round of the scheduler.
std::vector<Exchange> live(Scheduler& scheduler, const std::function<void()>& run_round, uint64_t seed,
                           const LifeOptions& options);

}  // namespace orfebre::testing
