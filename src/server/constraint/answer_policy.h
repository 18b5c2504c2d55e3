// The form that a request demands of its answer, enforced token by token: free thinking first, then only
// tokens that the grammar allows.
#pragma once

#include "engine/token_policy.h"
#include "sample/mask/matcher.h"
#include "server/api/answer_request.h"
#include "text/tokenizer.h"

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace orfebre {

struct ReplyNotes;

// The model's vocabulary arranged for masks; made when the first request needs it, a tenth of a second for
// the real one. Any number of threads.
class MaskVocabulary {
 public:
  std::shared_ptr<const mask::Vocabulary> get(const text::Tokenizer& tokenizer);

 private:
  std::once_flag made_;
  std::shared_ptr<const mask::Vocabulary> vocabulary_;
};

// The grammar of the answer, or null when nothing is demanded. `tools` are raw JSON texts, those of the
// request. With tools that may be called beside a response format, a call is as good as the format. Throws
// ApiError with the place in the request. Takes milliseconds, seconds at worst: for request threads.
std::shared_ptr<const automaton::Program> compile_answer_request(const api::AnswerRequest& answer,
                                                                 std::span<const std::string> tools,
                                                                 const text::Tokenizer& tokenizer,
                                                                 bool starts_in_think);

// Null without a grammar. The turn can only end where the grammar may; while the model thinks it cannot end,
// and no call can begin. Where the grammar must end the reply stops without an end-of-turn token. It also
// stops at a token that the grammar forbids, with a word of it in `notes`: such a reply is no answer.
// `tokenizer` must outlive the policy.
std::unique_ptr<TokenPolicy> make_answer_policy(std::shared_ptr<const automaton::Program> grammar,
                                                std::shared_ptr<const mask::Vocabulary> vocabulary,
                                                const text::Tokenizer& tokenizer,
                                                std::span<const int32_t> stop_ids, bool starts_in_think,
                                                std::shared_ptr<ReplyNotes> notes);

}  // namespace orfebre
