#include "server/constraint/answer_policy.h"

#include "server/reply/reply_policy.h"
#include "server/reply/think_end.h"

#include <algorithm>
#include <utility>

namespace orfebre {
namespace {

void set(std::span<uint32_t> words, int32_t id, bool allowed) {
  const uint32_t bit = 1u << (id % 32);
  uint32_t& word = words[static_cast<size_t>(id) / 32];
  word = allowed ? word | bit : word & ~bit;
}

class AnswerPolicy final : public TokenPolicy {
 public:
  AnswerPolicy(std::shared_ptr<const automaton::Program> grammar,
               std::shared_ptr<const mask::Vocabulary> vocabulary, const text::Tokenizer& tokenizer,
               std::span<const int32_t> stop_ids, bool starts_in_think, std::shared_ptr<ReplyNotes> notes)
      : tokenizer_(tokenizer),
        matcher_(std::move(grammar), std::move(vocabulary)),
        stop_ids_(stop_ids.begin(), stop_ids.end()),
        thinking_(starts_in_think),
        notes_(std::move(notes)) {
    std::erase_if(stop_ids_, [&](int32_t id) { return id < 0 || id >= tokenizer.vocab_size(); });
    if (!thinking_.is_over()) {
      make_thinking_mask();
    }
  }

  PolicyVerdict on_token(int32_t id) override {
    PolicyVerdict verdict;
    const bool allowed = thinking_.is_over() ? advance(id) : think(id);
    if (!allowed) {  // in spite of the masks
      notes_->left_form = true;
    }
    if (!allowed || (thinking_.is_over() && matcher_.at_end())) {
      verdict.kind = PolicyVerdict::Kind::kStop;
    }
    return verdict;
  }

  bool wants_mask() const override { return true; }

  void fill_mask(std::span<uint32_t> words) override {
    if (!thinking_.is_over()) {
      std::copy(thinking_mask_.begin(), thinking_mask_.end(), words.begin());
      return;
    }
    matcher_.fill_mask(words);
    if (matcher_.accepts()) {
      for (const int32_t id : stop_ids_) {
        set(words, id, true);
      }
    }
  }

 private:
  // Every token but those that would end the turn or begin a call: the thinking must end first.
  void make_thinking_mask() {
    thinking_mask_.assign((static_cast<size_t>(tokenizer_.vocab_size()) + 31) / 32, 0);
    for (int32_t id = 0; id < tokenizer_.vocab_size(); ++id) {
      const std::string_view bytes = tokenizer_.token_bytes(id);
      const bool is_call = tokenizer_.is_added(id) && (bytes == "<tool_call>" || bytes == "</tool_call>");
      set(thinking_mask_, id, !bytes.empty() && !is_call);
    }
    for (const int32_t id : stop_ids_) {
      set(thinking_mask_, id, false);
    }
  }

  bool advance(int32_t id) {
    return tokenizer_.is_added(id) ? matcher_.advance_control(id)
                                   : matcher_.advance(tokenizer_.token_bytes(id));
  }

  // What the token that ends the thinking has behind the end belongs to the answer.
  bool think(int32_t id) {
    const std::string_view behind = thinking_.push(tokenizer_, id);
    return !thinking_.is_over() || matcher_.advance(behind);
  }

  const text::Tokenizer& tokenizer_;
  mask::Matcher matcher_;
  std::vector<int32_t> stop_ids_;
  ThinkEnd thinking_;
  std::vector<uint32_t> thinking_mask_;
  std::shared_ptr<ReplyNotes> notes_;
};

}  // namespace

std::unique_ptr<TokenPolicy> make_answer_policy(std::shared_ptr<const automaton::Program> grammar,
                                                std::shared_ptr<const mask::Vocabulary> vocabulary,
                                                const text::Tokenizer& tokenizer,
                                                std::span<const int32_t> stop_ids, bool starts_in_think,
                                                std::shared_ptr<ReplyNotes> notes) {
  if (grammar == nullptr) {
    return nullptr;
  }
  return std::make_unique<AnswerPolicy>(std::move(grammar), std::move(vocabulary), tokenizer, stop_ids,
                                        starts_in_think, std::move(notes));
}

}  // namespace orfebre
