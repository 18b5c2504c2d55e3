#include "text/reply_tags.h"

#include <algorithm>

namespace orfebre::text {
namespace {

constexpr size_t kMaxNameBytes = 256;
constexpr std::string_view kSpace = " \t\r\n";

std::string clean_name(std::string_view name) {
  constexpr std::string_view kAround = " \t\r\"'";
  const size_t begin = name.find_first_not_of(kAround);
  if (begin == std::string_view::npos) {
    return {};
  }
  return std::string(name.substr(begin, name.find_last_not_of(kAround) - begin + 1));
}

// Nothing, or the next call: what may stand behind a finished call.
Seen call_boundary(const Lookahead& in) {
  const Lookahead next = in.after_space();
  if (next.text.empty()) {
    return next.ended ? Seen::kYes : Seen::kMaybe;
  }
  return match_literal(next, "<tool_call>");
}

Seen match_call_end(const Lookahead& in) {
  constexpr std::string_view kFunction = "</function>", kCall = "</tool_call>";
  if (const Seen seen = match_literal(in, kCall); seen != Seen::kNo) {
    return seen == Seen::kMaybe ? seen : call_boundary(in.after(kCall.size()));
  }
  const Seen seen = match_literal(in, kFunction);
  if (seen != Seen::kYes) {
    return seen;
  }
  const Lookahead next = in.after(kFunction.size()).after_space();
  if (next.text.empty()) {
    return next.ended ? Seen::kYes : Seen::kMaybe;
  }
  const Seen closed = match_literal(next, kCall);
  return closed == Seen::kYes ? call_boundary(next.after(kCall.size())) : closed;
}

}  // namespace

Lookahead Lookahead::after_space() const {
  return {text.substr(std::min(text.find_first_not_of(kSpace), text.size())), ended};
}

Seen match_literal(const Lookahead& in, std::string_view literal) {
  if (in.text.starts_with(literal)) {
    return Seen::kYes;
  }
  return !in.ended && literal.starts_with(in.text) ? Seen::kMaybe : Seen::kNo;
}

TagMatch match_opening(const Lookahead& in, std::string_view word) {
  const Seen seen = match_literal(in, word);
  if (seen != Seen::kYes) {
    return seen;
  }
  const Lookahead rest = in.after(word.size());
  if (rest.text.empty()) {
    return {rest.ended ? Seen::kNo : Seen::kMaybe};
  }
  if (rest.text[0] == '>') {
    return {Seen::kYes, word.size() + 1};
  }
  if (rest.text[0] != '=') {
    return Seen::kNo;
  }
  const size_t end = rest.text.find_first_of(">\n<", 1);
  if (end > kMaxNameBytes) {
    const bool undecided = end == std::string_view::npos && rest.text.size() <= kMaxNameBytes && !rest.ended;
    return {undecided ? Seen::kMaybe : Seen::kNo};
  }
  // A line break stays: it is the one that begins the value.
  const size_t size = word.size() + end + (rest.text[end] == '>' ? 1 : 0);
  return {Seen::kYes, size, clean_name(rest.text.substr(1, end - 1))};
}

TagMatch match_value_end(const Lookahead& in, bool at_line_start) {
  constexpr std::string_view kParameter = "</parameter>";
  const Seen seen = match_literal(in, kParameter);
  if (seen == Seen::kYes) {
    const Lookahead next = in.after(kParameter.size()).after_space();
    if (next.at_end()) {
      return {Seen::kYes, kParameter.size()};
    }
    Seen follows = at_line_start ? match_literal(next, "<parameter>") : Seen::kNo;
    for (const std::string_view tag :
         {"<parameter=", "</function>", "</tool_call>", "<tool_call>", "<function="}) {
      follows = std::max(follows, match_literal(next, tag));
    }
    return {follows, kParameter.size()};
  }
  return std::max(seen, match_call_end(in));
}

bool is_cut_tag(const Lookahead& in) {
  constexpr size_t kEnoughBytes = 3;
  if (!in.ended || in.text.size() < kEnoughBytes) {
    return false;
  }
  if (in.text.starts_with("<function=")) {
    return in.text.find_first_of(">\n") == std::string_view::npos;
  }
  for (const std::string_view tag :
       {"<think>", "</think>", "<tool_call>", "</tool_call>", "<function=", "</function>", "</parameter>"}) {
    if (tag.starts_with(in.text)) {
      return tag.size() > in.text.size();
    }
  }
  return false;
}

}  // namespace orfebre::text
