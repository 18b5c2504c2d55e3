// Where the thinking of a reply ends. All that treat thinking and answer differently ask this class, so that
// they agree.
#pragma once

#include "text/tokenizer.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace orfebre {

// Fed with the reply's text in any pieces, or with its tokens: the thinking ends behind "</think>", be that
// the token of this name or spelled by others.
class ThinkEnd {
 public:
  explicit ThinkEnd(bool starts_in_think) : is_over_(!starts_in_think) {}

  bool is_over() const { return is_over_; }
  // For what else ends it: a call inside the block.
  void end() { is_over_ = true; }

  // Gives what of `text` lies behind the thinking: nothing before its end, all after it.
  std::string_view push(std::string_view text) {
    if (is_over_) {
      return text;
    }
    const size_t tail_bytes = tail_.size();
    tail_ += text;
    const size_t found = tail_.find(kMark);
    if (found == std::string::npos) {
      tail_.erase(0, tail_.size() - std::min(tail_.size(), kMark.size() - 1));
      return {};
    }
    is_over_ = true;
    tail_.clear();
    return text.substr(found + kMark.size() - tail_bytes);
  }

  // The same for a token; those that give no text, special ones, count for nothing.
  std::string_view push(const text::Tokenizer& tokenizer, int32_t id) {
    return push(tokenizer.is_special(id) ? std::string_view() : tokenizer.token_bytes(id));
  }

 private:
  static constexpr std::string_view kMark = "</think>";
  bool is_over_;
  std::string tail_;  // of the thinking: what may be the beginning of its end
};

}  // namespace orfebre
