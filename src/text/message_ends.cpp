#include "text/message_ends.h"

#include <algorithm>

namespace orfebre::text {

std::vector<int> message_ends(const Tokenizer& tokenizer, std::span<const TokenId> ids) {
  const std::optional<TokenId> turn = tokenizer.id_of("<|im_start|>");
  const std::optional<TokenId> think = tokenizer.id_of("<think>");
  std::vector<int> ends;
  for (size_t i = 1; i < ids.size(); ++i) {
    if (turn && ids[i] == *turn) {
      ends.push_back(static_cast<int>(i));
    }
  }
  if (!ends.empty() && think) {
    const auto last = std::find(ids.begin() + ends.back(), ids.end(), *think);
    if (last != ids.end()) {
      ends.push_back(static_cast<int>(last - ids.begin()));
    }
  }
  return ends;
}

}  // namespace orfebre::text
