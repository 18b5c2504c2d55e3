// One request on its way: its tokens, how far the model has read them, and what it holds. Owned by the
// scheduler; the engine thread alone touches it.
#pragma once

#include "engine/cache/snapshot_plan.h"
#include "engine/request.h"
#include "engine/token_stream.h"
#include "spec/step_header.h"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace orfebre {

struct Sequence {
  // `n_context`: tokens that prompt and reply may have together. Times are seconds of the scheduler's clock.
  Sequence(Request request, std::shared_ptr<TokenStream> stream, int n_context, double submitted_at);

  // The request.
  Request request;
  std::shared_ptr<TokenStream> stream;
  int n_prompt;
  int n_most;  // tokens at which the reply is cut

  // Progress. A sequence that lost its memory starts again with n_processed and n_picked at 0: it reads its
  // prompt, then picks the tokens it already has, exactly as the first time.
  std::vector<int32_t> tokens;  // the prompt, then the reply
  std::deque<int32_t> forced;   // tokens that the policy wants next
  int n_processed = 0;          // tokens that the model has read
  int n_picked = 0;             // picks since it was admitted
  bool ended = false;           // the finishing event is out

  // What it holds while admitted.
  int32_t lane = -1;            // -1: waiting
  std::vector<int32_t> blocks;  // entry b holds positions [64 b, 64 b + 64)
  std::array<int32_t, 2> slots{kNoState, kNoState};
  int32_t state_in = kNoState;   // state after n_processed tokens
  int32_t state_out = kNoState;  // where the next step leaves its state
  int32_t borrowed = kNoState;   // a snapshot's slot of which it is a user, while that is its state_in

  // What becomes of it in the prefix cache.
  std::deque<PlannedSnapshot> planned;  // states of the prompt to keep, next first
  int tail = 0;                         // tokens before the snapshot of its reply; 0: none yet
  int n_turns = 0;                      // of the conversation, as far as the cache knew it
  int n_cached = 0;                     // tokens of the prompt that were cached when it was first admitted

  // Times, for Usage.
  double submitted_at;
  double admitted_at = -1;
  double first_token_at = -1;
  double progress_at = -1;  // last progress event

  int n_tokens() const { return static_cast<int>(tokens.size()); }
  int n_reply() const { return n_tokens() - n_prompt; }
  bool prefilling() const { return n_processed < n_prompt; }
  bool replaying() const { return n_picked < n_reply(); }
  bool is_stop(int32_t id) const;

  // The model has read `rows` more tokens: the state written becomes the state to read.
  void advance(int rows);
  // The token that the next pick must choose, or -1 for a free choice.
  int32_t next_forced() const;
  bool wants_mask() const { return request.policy && next_forced() < 0 && request.policy->wants_mask(); }
  Usage usage(double now) const;
};

}  // namespace orfebre
