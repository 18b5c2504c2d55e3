#include "server/reply/loop_detector.h"

#include <algorithm>

namespace orfebre {

bool LoopDetector::push(int32_t id) {
  bool found = false;
  const int longest = static_cast<int>(std::min<int64_t>(n_tokens_, kLongestPeriod));
  for (int period = 1; period <= longest; ++period) {
    const auto at = static_cast<size_t>((n_tokens_ - period) % kLongestPeriod);
    int32_t& matched = matched_[static_cast<size_t>(period)];
    matched = recent_[at] == id ? matched + 1 : 0;
    found |= matched + period >= std::max(kLeastTokens, kLeastRepeats * period);
  }
  recent_[static_cast<size_t>(n_tokens_ % kLongestPeriod)] = id;
  ++n_tokens_;
  return found;
}

void LoopDetector::reset() {
  matched_.fill(0);
  n_tokens_ = 0;
}

}  // namespace orfebre
