// How long requests waited and took, as histograms for /metrics. Recorded on the reply thread, read on
// request threads.
#pragma once

#include "engine/request.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace orfebre {

class Histogram {
 public:
  static constexpr std::array<double, 12> kBounds = {0.005, 0.02, 0.05, 0.1, 0.25, 0.5,
                                                     1,     2.5,  5,    15,  60,   300};

  void record(double value);
  // Appends the histogram in Prometheus' text form.
  void append_text(std::string& text, std::string_view name, std::string_view help) const;

 private:
  std::array<std::atomic<uint64_t>, kBounds.size() + 1> counts_{};  // the last: above all bounds
  std::atomic<double> sum_{0};
};

struct Latencies {
  Histogram queue_seconds;
  Histogram first_token_seconds;  // from the request's arrival
  Histogram token_seconds;        // a token of a reply, on the average over it
  Histogram reply_seconds;        // from arrival to end

  void record(const Usage& usage);
};

}  // namespace orfebre
