#include "server/reply/loop_detector.h"

#include <algorithm>

namespace orfebre {

bool LoopDetector::push(int32_t id) {
  const auto at = static_cast<size_t>(n_tokens_ % kLongestPeriod);
  const int32_t* const newest_end = recent_.data() + at + kLongestPeriod;
  const int longest = static_cast<int>(std::min<int64_t>(n_tokens_, kLongestPeriod));
  int32_t found = 0;
  for (int period = 1; period <= longest; ++period) {
    int32_t& matched = matched_[static_cast<size_t>(period)];
    matched = newest_end[-period] == id ? matched + 1 : 0;
    found |= matched + period >= std::max(kLeastTokens, kLeastRepeats * period) ? 1 : 0;
  }
  recent_[at] = id;
  recent_[at + kLongestPeriod] = id;
  ++n_tokens_;
  return found != 0;
}

void LoopDetector::reset() {
  matched_.fill(0);
  n_tokens_ = 0;
}

}  // namespace orfebre
