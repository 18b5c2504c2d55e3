#include "server/reply/stop_policy.h"

#include <algorithm>

namespace orfebre {
namespace {

constexpr std::string_view kThinkEnd = "</think>";
constexpr std::string_view kSpaces = " \t\r\n";

class StopPolicy final : public TokenPolicy {
 public:
  StopPolicy(const text::Tokenizer& tokenizer, std::span<const std::string> stops, bool starts_in_think)
      : detokenizer_(tokenizer), scanner_(stops, starts_in_think) {}

  PolicyVerdict on_token(int32_t id) override {
    PolicyVerdict verdict;
    if (scanner_.push(detokenizer_.push(id)).stopped) {
      verdict.kind = PolicyVerdict::Kind::kStop;
    }
    return verdict;
  }

 private:
  text::Detokenizer detokenizer_;
  StopScanner scanner_;
};

}  // namespace

StopScanner::StopScanner(std::span<const std::string> stops, bool starts_in_think)
    : matcher_(stops), phase_(starts_in_think ? Phase::kThink : Phase::kAnswer) {}

StopScanner::Result StopScanner::push(std::string_view text) {
  const size_t answer = skip_thinking(text);
  Result result{std::string(text.substr(0, answer)), false};
  if (phase_ == Phase::kAnswer) {
    auto matched = matcher_.push(text.substr(answer));
    result.text += matched.text;
    result.stopped = matcher_.stopped();
    stop_index_ = std::max(stop_index_, matched.stop_index);
  }
  return result;
}

size_t StopScanner::skip_thinking(std::string_view text) {
  size_t at = 0;
  if (phase_ == Phase::kThink) {
    const size_t tail_bytes = tail_.size();
    tail_ += text;
    const size_t found = tail_.find(kThinkEnd);
    if (found == std::string::npos) {
      tail_.erase(0, tail_.size() - std::min(tail_.size(), kThinkEnd.size() - 1));
      return text.size();
    }
    at = found + kThinkEnd.size() - tail_bytes;
    tail_.clear();
    phase_ = Phase::kSpace;
  }
  if (phase_ == Phase::kSpace) {
    at = std::min(text.find_first_not_of(kSpaces, at), text.size());
    if (at < text.size()) {
      phase_ = Phase::kAnswer;
    }
  }
  return at;
}

std::unique_ptr<TokenPolicy> make_stop_policy(const text::Tokenizer& tokenizer,
                                              std::span<const std::string> stops, bool starts_in_think) {
  const bool any = std::any_of(stops.begin(), stops.end(), [](const auto& stop) { return !stop.empty(); });
  if (!any) {
    return nullptr;
  }
  return std::make_unique<StopPolicy>(tokenizer, stops, starts_in_think);
}

}  // namespace orfebre
