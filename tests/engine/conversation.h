// Conversations of token ids as a client holds them: messages that are sent again in full with each turn,
// each reply among them with or without its thinking.
#pragma once

#include "engine/harness.h"

#include <algorithm>

namespace orfebre::testing {

struct Conversation {
  std::vector<std::vector<int32_t>> messages;  // the first is system message and tools
  uint64_t space = 0;
  std::vector<int32_t> generation_header = {2, 3, 4};  // what opens a reply

  Conversation& say(std::vector<int32_t> message) {
    messages.push_back(std::move(message));
    return *this;
  }

  std::vector<int32_t> prompt() const {
    std::vector<int32_t> ids;
    for (const auto& message : messages) {
      ids.insert(ids.end(), message.begin(), message.end());
    }
    ids.insert(ids.end(), generation_header.begin(), generation_header.end());
    return ids;
  }

  Asked ask(int max_tokens) const {
    Asked asked;
    asked.request.prompt = prompt();
    int at = 0;
    for (const auto& message : messages) {
      asked.request.snapshot_at.push_back(at += static_cast<int>(message.size()));
    }
    asked.request.max_tokens = max_tokens;
    asked.request.sampling.temperature = 0;
    asked.request.n_top_logprobs = 20;
    asked.request.cache_namespace = space;
    return asked;
  }

  // The reply as the next turn shows it: what opens it and its last `n_shown` tokens.
  void hear(const std::vector<int32_t>& reply, size_t n_shown = SIZE_MAX) {
    std::vector<int32_t> message = generation_header;
    message.insert(message.end(), reply.end() - static_cast<std::ptrdiff_t>(std::min(n_shown, reply.size())),
                   reply.end());
    say(std::move(message));
  }
};

inline int common_prefix(const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
  const size_t n = std::min(a.size(), b.size());
  return static_cast<int>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n), b.begin()).first - a.begin());
}

}  // namespace orfebre::testing
