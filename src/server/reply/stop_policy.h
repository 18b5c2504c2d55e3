// Stop strings. The same scanner runs twice over the same tokens: on the engine thread inside a TokenPolicy,
// which ends the reply with the very token that completes a stop string, so that no token is computed or
// counted after it; and where the reply is written, to cut the text before the match. Nothing is shared
// between the two, and what may still become a stop string is held back, so text of or after a match never
// reaches the client.
#pragma once

#include "engine/token_policy.h"
#include "server/reply/think_end.h"
#include "text/detokenizer.h"
#include "text/stop_matcher.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace orfebre {

// Looks for stop strings in the text of a reply, in any chunks. A client's stop string is about the answer: a
// blank line in the thinking does not end the reply. So the search begins after "</think>" and the white
// space that follows it; tool-call markup is part of the answer.
class StopScanner {
 public:
  StopScanner(std::span<const std::string> stops, bool starts_in_think);

  struct Result {
    std::string text;  // safe to pass on
    bool stopped = false;
  };
  Result push(std::string_view text);
  // The end of the reply without a match: the text held back.
  std::string flush() { return matcher_.stopped() ? std::string() : matcher_.flush(); }

  bool in_think() const { return !think_end_.is_over(); }
  bool stopped() const { return matcher_.stopped(); }
  int stop_index() const { return stop_index_; }  // of the stop string that was found, or -1

 private:
  // What of `text` lies behind the thinking and the white space after it.
  std::string_view skip_thinking(std::string_view text);

  text::StopMatcher matcher_;
  ThinkEnd think_end_;
  bool in_space_;  // nothing of the answer has come
  int stop_index_ = -1;
};

// Null when there is nothing to look for. `tokenizer` must outlive the policy.
std::unique_ptr<TokenPolicy> make_stop_policy(const text::Tokenizer& tokenizer,
                                              std::span<const std::string> stops, bool starts_in_think);

}  // namespace orfebre
