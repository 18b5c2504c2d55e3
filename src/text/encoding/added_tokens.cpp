#include "text/encoding/added_tokens.h"

#include <algorithm>

namespace orfebre::text {

AddedTokenFinder::AddedTokenFinder(std::span<const AddedToken> tokens, bool normalized) {
  for (const AddedToken& token : tokens) {
    if (token.normalized != normalized) {
      continue;
    }
    by_first_byte_[static_cast<unsigned char>(token.text[0])].push_back({token.text, token.id});
    ++n_tokens_;
  }
  for (auto& entries : by_first_byte_) {
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.text.size() > b.text.size(); });
  }
}

void AddedTokenFinder::find(std::string_view text, size_t begin, size_t end, std::vector<Match>& out) const {
  if (empty()) {
    return;
  }
  const std::string_view range = text.substr(0, end);
  for (size_t pos = begin; pos < end;) {
    const auto& entries = by_first_byte_[static_cast<unsigned char>(text[pos])];
    const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) {
      return range.substr(pos, e.text.size()) == e.text;
    });
    if (found == entries.end()) {
      ++pos;
      continue;
    }
    out.push_back({pos, pos + found->text.size(), found->id});
    pos += found->text.size();
  }
}

}  // namespace orfebre::text
