#include "engine/cache/snapshot_plan.h"

#include "spec/step_header.h"

#include <algorithm>
#include <cstddef>

namespace orfebre {
namespace {

constexpr size_t kNeededAtEnd = 3;  // boundaries

int block_start(int position) {
  return position / kBlockTokens * kBlockTokens;
}

}  // namespace

std::vector<PlannedSnapshot> plan_snapshots(int begin, int n_prompt, std::span<const int> boundaries,
                                            int stride, int n_most) {
  const int last = block_start(n_prompt - 1);
  const int widest = std::max(stride, (n_prompt - begin) / std::max(1, n_most));
  const int step = std::max(kBlockTokens, block_start(widest));
  std::vector<PlannedSnapshot> plan;
  const auto add = [&](int position, bool is_needed) {
    int previous = plan.empty() ? begin : plan.back().position;
    while (position - previous >= 2 * step) {
      previous += step;
      plan.push_back({previous, false});
    }
    if (!plan.empty() && plan.back().position == position) {
      plan.back().is_needed |= is_needed;
    } else if (position > previous && (is_needed || position - previous >= step)) {
      plan.push_back({position, is_needed});
    }
  };
  for (size_t i = 0; i < boundaries.size(); ++i) {
    const int position = block_start(boundaries[i]);
    if (position <= last) {
      add(position, i == 0 || i + kNeededAtEnd >= boundaries.size());
    }
  }
  add(last, true);
  return plan;
}

}  // namespace orfebre
