// Ends thinking that takes too long: at its budget, or when it goes round in circles. The block is closed by
// forced tokens and the model goes on with its answer, so that a reply never ends without one. A loop in the
// answer ends the reply.
#pragma once

#include "server/reply/reply_policy.h"

namespace orfebre {

// Null when neither a budget nor the guard is set. `tokenizer` must outlive the policy.
std::unique_ptr<TokenPolicy> make_thinking_policy(const text::Tokenizer& tokenizer,
                                                  const ReplyPolicySettings& settings,
                                                  std::shared_ptr<ReplyNotes> notes);

}  // namespace orfebre
