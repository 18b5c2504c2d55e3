#include "server/reply/reply_policy.h"

#include "server/reply/stop_policy.h"
#include "server/reply/thinking_policy.h"

#include <algorithm>
#include <utility>

namespace orfebre {
namespace {

class JoinedPolicy final : public TokenPolicy {
 public:
  explicit JoinedPolicy(std::vector<std::unique_ptr<TokenPolicy>> parts) : parts_(std::move(parts)) {}

  PolicyVerdict on_token(int32_t id) override {
    PolicyVerdict joined;
    for (const auto& part : parts_) {
      PolicyVerdict verdict = part->on_token(id);
      const bool stops = verdict.kind == PolicyVerdict::Kind::kStop;
      if (stops || joined.kind == PolicyVerdict::Kind::kContinue) {
        joined = std::move(verdict);
      }
    }
    return joined;
  }

  bool wants_mask() const override {
    return std::any_of(parts_.begin(), parts_.end(), [](const auto& part) { return part->wants_mask(); });
  }

  void fill_mask(std::span<uint32_t> words) override {
    const auto masking =
        std::find_if(parts_.begin(), parts_.end(), [](const auto& part) { return part->wants_mask(); });
    if (masking != parts_.end()) {
      (*masking)->fill_mask(words);
    }
  }

 private:
  std::vector<std::unique_ptr<TokenPolicy>> parts_;
};

class OneCallPolicy final : public TokenPolicy {
 public:
  explicit OneCallPolicy(const text::Tokenizer& tokenizer)
      : call_end_(tokenizer.id_of("</tool_call>").value_or(-1)) {}

  PolicyVerdict on_token(int32_t id) override {
    return {id == call_end_ ? PolicyVerdict::Kind::kStop : PolicyVerdict::Kind::kContinue, {}};
  }

 private:
  int32_t call_end_;
};

}  // namespace

std::unique_ptr<TokenPolicy> join_policies(std::vector<std::unique_ptr<TokenPolicy>> parts) {
  std::erase(parts, nullptr);
  if (parts.size() <= 1) {
    return parts.empty() ? nullptr : std::move(parts.front());
  }
  return std::make_unique<JoinedPolicy>(std::move(parts));
}

std::unique_ptr<TokenPolicy> make_reply_policy(const text::Tokenizer& tokenizer,
                                               const ReplyPolicySettings& settings,
                                               std::shared_ptr<ReplyNotes> notes) {
  std::vector<std::unique_ptr<TokenPolicy>> parts;
  parts.push_back(make_stop_policy(tokenizer, settings.stop, settings.starts_in_think));
  parts.push_back(make_thinking_policy(tokenizer, settings, std::move(notes)));
  if (settings.one_call) {
    parts.push_back(std::make_unique<OneCallPolicy>(tokenizer));
  }
  return join_policies(std::move(parts));
}

}  // namespace orfebre
