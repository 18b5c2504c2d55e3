// How many rows of a prompt to process at a time, so that replies which are running wait no longer than
// they were promised. Learns from the chunks that were run.
#pragma once

namespace orfebre {

class PrefillPace {
 public:
  // max_rows: the most that one step takes. gap_seconds: what a running reply may wait for a chunk.
  PrefillPace(int max_rows, double gap_seconds) : max_rows_(max_rows), gap_seconds_(gap_seconds) {}

  // Where the chunk that starts at `begin` of a prompt of `n_prompt` tokens ends. With `hurried` it is sized
  // by time. Ends at a multiple of 64 or at the prompt's end, unless a step takes fewer rows than a block.
  int chunk_end(int begin, int n_prompt, bool hurried) const;

  void record(int rows, double seconds);

 private:
  int max_rows_;
  double gap_seconds_;
  double rows_per_second_ = 0;  // 0: nothing measured yet
};

}  // namespace orfebre
