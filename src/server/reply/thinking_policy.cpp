#include "server/reply/thinking_policy.h"

#include "server/reply/loop_detector.h"
#include "server/reply/think_end.h"

#include <utility>

namespace orfebre {
namespace {

class ThinkingPolicy final : public TokenPolicy {
 public:
  ThinkingPolicy(const text::Tokenizer& tokenizer, const ReplyPolicySettings& settings,
                 std::shared_ptr<ReplyNotes> notes)
      : tokenizer_(tokenizer),
        call_begin_(tokenizer.id_of("<tool_call>").value_or(-1)),
        closing_(tokenizer.encode("\n</think>\n\n")),
        budget_(settings.thinking.budget_tokens),
        guards_loops_(settings.guard_loops),
        thinking_(settings.starts_in_think),
        notes_(std::move(notes)) {}

  PolicyVerdict on_token(int32_t id) override {
    const bool loops = guards_loops_ && detector_.push(id);
    if (thinking_.is_over()) {
      return loops ? stop() : PolicyVerdict{};
    }
    thinking_.push(tokenizer_, id);
    if (id == call_begin_) {  // a call inside the block ends it too
      thinking_.end();
    }
    if (thinking_.is_over()) {
      detector_.reset();
      return {};
    }
    ++n_thought_;
    if (closing_now_) {
      return {};
    }
    if (loops) {
      return close(Interference::kLoop);
    }
    return budget_ >= 0 && n_thought_ >= budget_ ? close(Interference::kBudget) : PolicyVerdict{};
  }

 private:
  PolicyVerdict stop() {
    notes_->stopped_for_loop = true;
    return {PolicyVerdict::Kind::kStop, {}};
  }

  PolicyVerdict close(Interference why) {
    closing_now_ = true;
    notes_->thinking_cut = why;
    return {PolicyVerdict::Kind::kForce, closing_};
  }

  const text::Tokenizer& tokenizer_;
  int32_t call_begin_;
  std::vector<int32_t> closing_;
  int budget_;
  bool guards_loops_;
  ThinkEnd thinking_;
  bool closing_now_ = false;
  int n_thought_ = 0;
  LoopDetector detector_;
  std::shared_ptr<ReplyNotes> notes_;
};

}  // namespace

std::unique_ptr<TokenPolicy> make_thinking_policy(const text::Tokenizer& tokenizer,
                                                  const ReplyPolicySettings& settings,
                                                  std::shared_ptr<ReplyNotes> notes) {
  const bool has_budget = settings.starts_in_think && settings.thinking.budget_tokens >= 0;
  if (!has_budget && !settings.guard_loops) {
    return nullptr;
  }
  return std::make_unique<ThinkingPolicy>(tokenizer, settings, std::move(notes));
}

}  // namespace orfebre
