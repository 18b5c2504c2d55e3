// A model whose reply is the last user message: "say X" in, X out, token by token through the real engine. So
// a test writes the raw reply that it wants to see handled ("thoughts</think>\n\nanswer") into the request.
#pragma once

#include "engine/engine.h"
#include "model/executor.h"
#include "text/tokenizer.h"

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace orfebre::testing {

// A token for each byte, and the added tokens of the real vocabulary that replies are made of.
text::Tokenizer byte_tokenizer();
inline constexpr int32_t kEndOfTurn = 257;  // <|im_end|>
inline constexpr int32_t kNotFinite = 263;  // "<fail>": its pick reports logits that are not finite
inline constexpr int kByteVocab = 264;

// What a test may change while the engine runs.
struct ScriptPace {
  std::atomic<int> decode_ms{0};   // each decode step takes so long
  std::atomic<int> prefill_ms{0};  // each prefill step takes so long, the cancel flag being read all along
  std::atomic<int> n_steps{0};     // begun so far
};

class ScriptedExecutor final : public Executor {
 public:
  ScriptedExecutor(const text::Tokenizer& tokenizer, std::shared_ptr<ScriptPace> pace, int max_context);

  const ShapeInfo& shape() const override { return shape_; }
  const StepLimits& limits() const override { return limits_; }
  StateTraits state_traits() const override { return {1000, 70000, true}; }
  bool forward(const Step& step, const std::atomic<bool>* cancel) override;
  void pick(const PickBatch& batch) override;
  std::span<const PickResult> wait() override { return results_; }
  void reset_lane(int lane, std::span<const int32_t> prompt) override;
  void copy_state(int, int) override {}

 private:
  struct Lane {
    std::vector<int32_t> reply;
    int prompt_tokens = 0;
  };
  const text::Tokenizer& tokenizer_;
  std::shared_ptr<ScriptPace> pace_;
  ShapeInfo shape_;
  StepLimits limits_;
  std::map<int, Lane> lanes_;
  std::vector<PickResult> results_;
};

}  // namespace orfebre::testing
