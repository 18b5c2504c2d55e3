// Policies that depend on the tokens alone.
#pragma once

#include "engine/token_policy.h"

namespace orfebre::testing {

// After a token divisible by 5, forces three that follow from it; stops at one divisible by `stop_divisor`.
class ForcingPolicy final : public TokenPolicy {
 public:
  ForcingPolicy(int vocab, int stop_divisor) : vocab_(vocab), stop_divisor_(stop_divisor) {}
  PolicyVerdict on_token(int32_t id) override {
    ++n_seen_;
    if (n_seen_ > 3 && id % stop_divisor_ == 0) {
      return {PolicyVerdict::Kind::kStop, {}};
    }
    if (id % 5 == 0) {
      return {PolicyVerdict::Kind::kForce, {(id + 1) % vocab_, (id + 2) % vocab_, (id + 3) % vocab_}};
    }
    return {};
  }

 private:
  int vocab_;
  int stop_divisor_;
  int n_seen_ = 0;
};

// After an even token, the next is one of the same remainder by 4.
class MaskingPolicy final : public TokenPolicy {
 public:
  explicit MaskingPolicy(int vocab) : vocab_(vocab) {}
  PolicyVerdict on_token(int32_t id) override {
    last_ = id;
    return {};
  }
  bool wants_mask() const override { return last_ % 2 == 0; }
  void fill_mask(std::span<uint32_t> words) override {
    for (int id = last_ % 4; id < vocab_; id += 4) {
      words[static_cast<size_t>(id / 32)] |= 1u << (id % 32);
    }
  }

 private:
  int vocab_;
  int32_t last_ = 1;
};

}  // namespace orfebre::testing
