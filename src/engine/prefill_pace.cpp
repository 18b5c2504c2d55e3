#include "engine/prefill_pace.h"

#include "spec/step_header.h"

#include <algorithm>

namespace orfebre {

int PrefillPace::chunk_end(int begin, int n_prompt, bool hurried) const {
  int rows = max_rows_;
  if (hurried) {
    const double affordable = rows_per_second_ * gap_seconds_;
    rows = static_cast<int>(std::min<double>(max_rows_, std::max<double>(affordable, kBlockTokens)));
  }
  const int end = begin + rows;
  if (end >= n_prompt) {
    return n_prompt;
  }
  const int border = end / kBlockTokens * kBlockTokens;
  return border > begin ? border : end;
}

void PrefillPace::record(int rows, double seconds) {
  // The tail of a prompt says little: a few rows cost nearly as much as a block.
  if (rows < std::min(kBlockTokens, max_rows_) || seconds <= 0) {
    return;
  }
  const double measured = rows / seconds;
  rows_per_second_ = rows_per_second_ == 0 ? measured : 0.5 * (rows_per_second_ + measured);
}

}  // namespace orfebre
