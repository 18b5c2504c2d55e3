#include "server/reply/stop_policy.h"

#include <algorithm>

namespace orfebre {
namespace {

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
    : matcher_(stops), think_end_(starts_in_think), in_space_(starts_in_think) {}

StopScanner::Result StopScanner::push(std::string_view text) {
  const std::string_view answer = skip_thinking(text);
  Result result{std::string(text.substr(0, text.size() - answer.size())), false};
  if (!answer.empty()) {
    auto matched = matcher_.push(answer);
    result.text += matched.text;
    stop_index_ = std::max(stop_index_, matched.stop_index);
  }
  result.stopped = matcher_.stopped();
  return result;
}

std::string_view StopScanner::skip_thinking(std::string_view text) {
  std::string_view answer = think_end_.push(text);
  if (in_space_ && think_end_.is_over()) {
    answer.remove_prefix(std::min(answer.find_first_not_of(kSpaces), answer.size()));
    in_space_ = answer.empty();
  }
  return answer;
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
