#include "server/reply/latencies.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace orfebre {

void Histogram::record(double value) {
  const auto bound = std::lower_bound(kBounds.begin(), kBounds.end(), value);
  ++counts_[static_cast<size_t>(bound - kBounds.begin())];
  double sum = sum_;
  while (!sum_.compare_exchange_weak(sum, sum + value)) {
  }
}

void Histogram::append_text(std::string& text, std::string_view name, std::string_view help) const {
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "# HELP orfebre_{0} {1}.\n# TYPE orfebre_{0} histogram\n", name, help);
  uint64_t n_so_far = 0;
  for (size_t i = 0; i < kBounds.size(); ++i) {
    n_so_far += counts_[i];
    fmt::format_to(out, "orfebre_{}_bucket{{le=\"{}\"}} {}\n", name, kBounds[i], n_so_far);
  }
  n_so_far += counts_.back();
  fmt::format_to(out, "orfebre_{0}_bucket{{le=\"+Inf\"}} {1}\norfebre_{0}_sum {2}\norfebre_{0}_count {1}\n",
                 name, n_so_far, sum_.load());
}

void Latencies::record(const Usage& usage) {
  const double first_token = usage.queue_seconds + usage.prefill_seconds;
  queue_seconds.record(usage.queue_seconds);
  first_token_seconds.record(first_token);
  reply_seconds.record(first_token + usage.decode_seconds);
  if (usage.reply_tokens > 1) {
    token_seconds.record(usage.decode_seconds / (usage.reply_tokens - 1));
  }
}

}  // namespace orfebre
