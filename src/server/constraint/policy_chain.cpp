#include "server/constraint/policy_chain.h"

#include <algorithm>
#include <utility>

namespace orfebre {
namespace {

class PolicyChain final : public TokenPolicy {
 public:
  explicit PolicyChain(std::vector<std::unique_ptr<TokenPolicy>> policies) : policies_(std::move(policies)) {}

  PolicyVerdict on_token(int32_t id) override {
    PolicyVerdict result;
    for (const auto& policy : policies_) {
      PolicyVerdict verdict = policy->on_token(id);
      const bool wins =
          verdict.kind == PolicyVerdict::Kind::kStop ||
          (verdict.kind == PolicyVerdict::Kind::kForce && result.kind == PolicyVerdict::Kind::kContinue);
      if (wins) {
        result = std::move(verdict);
      }
    }
    return result;
  }

  bool wants_mask() const override {
    return std::any_of(policies_.begin(), policies_.end(), [](const auto& p) { return p->wants_mask(); });
  }

  void fill_mask(std::span<uint32_t> words) override {
    bool is_first = true;
    for (const auto& policy : policies_) {
      if (!policy->wants_mask()) {
        continue;
      }
      if (std::exchange(is_first, false)) {
        policy->fill_mask(words);
        continue;
      }
      other_.assign(words.size(), 0);
      policy->fill_mask(other_);
      for (size_t i = 0; i < words.size(); ++i) {
        words[i] &= other_[i];
      }
    }
  }

 private:
  std::vector<std::unique_ptr<TokenPolicy>> policies_;
  std::vector<uint32_t> other_;
};

}  // namespace

std::unique_ptr<TokenPolicy> chain_policies(std::vector<std::unique_ptr<TokenPolicy>> policies) {
  std::erase(policies, nullptr);
  if (policies.size() > 1) {
    return std::make_unique<PolicyChain>(std::move(policies));
  }
  return policies.empty() ? nullptr : std::move(policies[0]);
}

}  // namespace orfebre
