// What watches a reply while it is made: stop strings, the thinking budget, the loop guard. Built on a
// request thread, run on the engine thread.
#pragma once

#include "engine/token_policy.h"
#include "text/tokenizer.h"

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace orfebre {

// Why a policy interfered: written on the engine thread, read where the reply is written.
enum class Interference { kNone, kBudget, kLoop };

struct ReplyNotes {
  std::atomic<Interference> thinking_cut{Interference::kNone};  // what closed the thinking before its end
  std::atomic<bool> stopped_for_loop{false};
  std::atomic<bool> left_form{false};  // a token came that the demanded form forbids: a defect
};

struct ThinkingLimit {
  int budget_tokens = -1;  // -1: none
};

struct ReplyPolicySettings {
  std::span<const std::string> stop;
  bool starts_in_think = false;
  ThinkingLimit thinking;
  bool guard_loops = false;
  bool one_call = false;  // the reply ends with its first tool call
};

// Null when nothing is to be watched. `tokenizer` must outlive the policy.
std::unique_ptr<TokenPolicy> make_reply_policy(const text::Tokenizer& tokenizer,
                                               const ReplyPolicySettings& settings,
                                               std::shared_ptr<ReplyNotes> notes);

}  // namespace orfebre
