#include "text/stop_matcher.h"

#include <algorithm>
#include <utility>

namespace orfebre::text {

StopMatcher::StopMatcher(std::span<const std::string> stops) {
  for (size_t s = 0; s < stops.size(); ++s) {
    if (stops[s].empty()) {
      continue;
    }
    Pattern pattern;
    pattern.text = stops[s];
    pattern.index = static_cast<int>(s);
    pattern.fallback.assign(stops[s].size(), 0);
    for (size_t i = 1, border = 0; i < stops[s].size(); ++i) {
      while (border > 0 && stops[s][i] != stops[s][border]) {
        border = pattern.fallback[border - 1];
      }
      if (stops[s][i] == stops[s][border]) {
        ++border;
      }
      pattern.fallback[i] = border;
    }
    patterns_.push_back(std::move(pattern));
  }
}

StopMatcher::Result StopMatcher::push(std::string_view text) {
  Result result;
  if (stopped_) {
    return result;
  }
  for (const char c : text) {
    held_ += c;
    const Pattern* found = nullptr;
    for (Pattern& p : patterns_) {
      while (p.matched > 0 && p.text[p.matched] != c) {
        p.matched = p.fallback[p.matched - 1];
      }
      if (p.text[p.matched] == c) {
        ++p.matched;
      }
      if (p.matched == p.text.size()) {
        if (found == nullptr || p.text.size() > found->text.size()) {
          found = &p;
        }
        p.matched = p.fallback[p.matched - 1];
      }
    }
    if (found != nullptr) {
      stopped_ = true;
      held_.resize(held_.size() - found->text.size());
      result.text = std::exchange(held_, {});
      result.stop_index = found->index;
      return result;
    }
  }
  size_t keep = 0;
  for (const Pattern& p : patterns_) {
    keep = std::max(keep, p.matched);
  }
  result.text = held_.substr(0, held_.size() - keep);
  held_.erase(0, held_.size() - keep);
  return result;
}

std::string StopMatcher::flush() {
  return stopped_ ? std::string() : std::exchange(held_, {});
}

}  // namespace orfebre::text
