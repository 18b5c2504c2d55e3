// Same tokens always: a greedy reply must not depend on how its prompt was cut, on what ran before it, or on
// what runs beside it. Checks a loaded model against itself; no reference is needed.
#pragma once

#include "engine/engine.h"
#include "model/model.h"

#include <atomic>
#include <span>
#include <string>
#include <vector>

namespace orfebre {

struct ConsistencyCheck {
  std::string name;               // "prefill in chunks of 64"
  bool same = false;              // the same ids
  bool same_bits = false;         // and the same logits or log-probabilities in every bit
  double largest_difference = 0;  // of them
};

// What the checks run.
struct ConsistencyInput {
  std::vector<std::vector<int32_t>> prompts;  // 1 to kMaxLanes, none empty
  int reply_tokens = 0;                       // of each greedy reply
  int n_vocab = 0;                            // ids at or above are never chosen
  const std::atomic<bool>* cancel = nullptr;
};

// What the next call needs to know: the greedy replies of a model driven step by step, without an engine.
using Replies = std::vector<std::vector<int32_t>>;  // one a prompt
Replies greedy_replies(Model& model, const ConsistencyInput& input);

// The first prompt prefilled whole, in chunks of 64 and 37, and token by token.
std::vector<ConsistencyCheck> check_prefill(Model& model, const ConsistencyInput& input);

// Each prompt cold, again (warm), as part of a longer conversation, and all at once, against `expected`. The
// engine must be fresh. Throws Error as the engine's replies do.
std::vector<ConsistencyCheck> check_engine(Engine& engine, const ConsistencyInput& input,
                                           const Replies& expected);

}  // namespace orfebre
