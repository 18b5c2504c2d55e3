// At which positions of a prompt the recurrent state is kept while it is read. Knows nothing of what is
// cached.
#pragma once

#include <span>
#include <vector>

namespace orfebre {

struct PlannedSnapshot {
  int position;    // tokens before it; a multiple of 64
  bool is_needed;  // the next turn, an edit or a sibling would miss it: it may take the place of any other
};

// Ascending positions after `begin`, all below `n_prompt`: a prompt that is sent again has a token to
// process.
//
// `boundaries` are ascending positions at which a later prompt is likely to part from this one: the ends of
// messages, the first being the end of system message and tools. Needed are the multiples of 64 at or before
// the first, the last three (the last user message may be edited) and the end of the prompt. In between a
// state is kept about every `stride` tokens, at boundaries where there are some, and further apart where that
// would be more than `n_most`.
std::vector<PlannedSnapshot> plan_snapshots(int begin, int n_prompt, std::span<const int> boundaries,
                                            int stride, int n_most);

}  // namespace orfebre
