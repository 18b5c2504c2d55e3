// Cuts text into the pieces within which BPE merges, by the model's split expression.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace orfebre::text {

// The split expression of Qwen3.5 and Qwen3.6 as tokenizer.json writes it: letters take combining marks
// along, every digit stands alone.
inline constexpr std::string_view kSplitExpression =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// Immutable; shared by any number of threads. Characters newer than the system's PCRE2 count as unassigned.
class PreTokenizer {
 public:
  PreTokenizer();
  ~PreTokenizer();
  PreTokenizer(const PreTokenizer&) = delete;
  PreTokenizer& operator=(const PreTokenizer&) = delete;

  // Calls `piece` for each piece in order; the pieces joined are `text`, which is well-formed UTF-8.
  template <typename F>
  void split(std::string_view text, F&& piece) const {
    Matcher matcher(*this);
    size_t pos = 0;
    while (pos < text.size()) {
      const size_t end = matcher.next_end(text, pos);
      piece(text.substr(pos, end - pos));
      pos = end;
    }
  }

 private:
  struct Code;
  // The scratch memory of one split.
  class Matcher {
   public:
    explicit Matcher(const PreTokenizer& owner);
    ~Matcher();
    Matcher(const Matcher&) = delete;
    Matcher& operator=(const Matcher&) = delete;
    // Where the piece that starts at `pos` ends; always past `pos`.
    size_t next_end(std::string_view text, size_t pos);

   private:
    const PreTokenizer& owner_;
    void* match_data_;
  };
  std::unique_ptr<Code> code_;
};

}  // namespace orfebre::text
