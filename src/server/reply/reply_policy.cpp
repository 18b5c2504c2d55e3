#include "server/reply/reply_policy.h"

#include "server/constraint/policy_chain.h"
#include "server/reply/stop_policy.h"
#include "server/reply/thinking_policy.h"

#include <utility>

namespace orfebre {
namespace {

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

std::unique_ptr<TokenPolicy> make_reply_policy(const text::Tokenizer& tokenizer,
                                               const ReplyPolicySettings& settings,
                                               std::shared_ptr<ReplyNotes> notes) {
  std::vector<std::unique_ptr<TokenPolicy>> parts;
  parts.push_back(make_stop_policy(tokenizer, settings.stop, settings.starts_in_think));
  parts.push_back(make_thinking_policy(tokenizer, settings, std::move(notes)));
  if (settings.one_call) {
    parts.push_back(std::make_unique<OneCallPolicy>(tokenizer));
  }
  return chain_policies(std::move(parts));
}

}  // namespace orfebre
