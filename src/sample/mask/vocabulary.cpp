#include "sample/mask/vocabulary.h"

#include <algorithm>

namespace orfebre::mask {
namespace {

constexpr int kMaxPlainCharacters = 200;  // longer tokens count as not plain

void add(TokenSet& set, int32_t id) {
  set[static_cast<size_t>(id) / 32] |= 1u << (id % 32);
}

// What a token's bytes are, read from a character's beginning.
struct Traits {
  int plain = -1;        // plain characters and nothing else: their number
  bool in_json = false;  // stays within a JSON string
  bool text = false;     // UTF-8 without '<'
};

// The bytes of the UTF-8 character at the start of `bytes`; 0 when there is none, `cut` when more bytes could
// complete one.
size_t character_bytes(std::string_view bytes, bool& cut) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned lead = at(0);
  const size_t n = lead < 0x80                    ? 1
                   : lead >= 0xC2 && lead <= 0xDF ? 2
                   : (lead & 0xF0) == 0xE0        ? 3
                   : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                  : 0;
  for (size_t i = 1; i < std::min(n, bytes.size()); ++i) {
    const unsigned low = i > 1 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned high = i > 1 ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (at(i) < low || at(i) > high) {
      return 0;
    }
  }
  cut = n > bytes.size();
  return n;
}

// Bytes of the escape at the start of `bytes` (a backslash); 0 when it is wrong. Pairs of surrogates are left
// to the walk.
size_t escape_bytes(std::string_view bytes, bool& cut) {
  cut = bytes.size() < 2;
  if (cut) {
    return 1;
  }
  if (bytes[1] != 'u') {
    return std::string_view("\"\\/bfnrt").find(bytes[1]) != std::string_view::npos ? 2 : 0;
  }
  for (size_t i = 2; i < 6; ++i) {
    if (i == bytes.size()) {
      cut = true;
      return i;
    }
    const auto lower = static_cast<char>(bytes[i] | 0x20);
    const bool is_hex = (bytes[i] >= '0' && bytes[i] <= '9') || (lower >= 'a' && lower <= 'f');
    if (!is_hex || (i == 2 && lower == 'd')) {
      return 0;
    }
  }
  return 6;
}

bool stays_in_json_string(std::string_view bytes) {
  for (bool cut = false; !bytes.empty();) {
    const auto c = static_cast<unsigned char>(bytes[0]);
    const size_t n = c == '"' || c < 0x20 ? 0
                     : c == '\\'          ? escape_bytes(bytes, cut)
                                          : character_bytes(bytes, cut);
    if (n == 0) {
      return false;
    }
    bytes.remove_prefix(std::min(n, bytes.size()));
  }
  return true;
}

Traits traits_of(std::string_view bytes) {
  Traits traits{0, stays_in_json_string(bytes), true};
  while (!bytes.empty()) {
    bool cut = false;
    const size_t n = character_bytes(bytes, cut);
    if (n == 0) {
      return {-1, traits.in_json, false};
    }
    const auto c = static_cast<unsigned char>(bytes[0]);
    const std::string_view character = bytes.substr(0, n);
    const bool is_plain = c >= 0x20 && c != '"' && c != '\\' && !cut && character != "\xE2\x80\xA8" &&
                          character != "\xE2\x80\xA9";
    traits.plain = is_plain && traits.plain >= 0 ? traits.plain + 1 : -1;
    traits.text = traits.text && c != '<';
    bytes.remove_prefix(std::min(n, bytes.size()));
  }
  traits.plain = traits.plain > kMaxPlainCharacters ? -1 : traits.plain;
  return traits;
}

// `ids` in the order of their bytes.
Trie make_trie(std::span<const std::string_view> token_bytes, const std::vector<int32_t>& ids) {
  Trie trie;
  std::vector<size_t> open;  // the nodes of the token before, by depth
  std::string_view before;
  const auto close_to = [&](size_t depth) {
    while (open.size() > depth) {
      trie[open.back()].end = static_cast<uint32_t>(trie.size());
      open.pop_back();
    }
  };
  for (const int32_t id : ids) {
    const std::string_view bytes = token_bytes[static_cast<size_t>(id)];
    size_t common = 0;
    while (common < std::min(before.size(), bytes.size()) && before[common] == bytes[common]) {
      ++common;
    }
    close_to(common);
    for (size_t i = common; i < bytes.size(); ++i) {
      open.push_back(trie.size());
      trie.push_back({0, -1, static_cast<uint16_t>(i + 1), static_cast<uint8_t>(bytes[i])});
    }
    trie[open.back()].token = id;
    before = bytes;
  }
  close_to(0);
  return trie;
}

}  // namespace

Vocabulary::Vocabulary(std::span<const std::string_view> token_bytes)
    : words_((token_bytes.size() + 31) / 32) {
  std::vector<int32_t> order, not_plain, not_json, not_text;
  for (size_t id = 0; id < token_bytes.size(); ++id) {
    if (!token_bytes[id].empty()) {
      order.push_back(static_cast<int32_t>(id));
      reach_ = std::max(reach_, static_cast<int32_t>(token_bytes[id].size()) + 1);
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return token_bytes[static_cast<size_t>(a)] < token_bytes[static_cast<size_t>(b)];
  });
  // Of two tokens with the same bytes a trie can hold one: the lower id.
  order.erase(std::unique(order.begin(), order.end(),
                          [&](int32_t a, int32_t b) {
                            return token_bytes[static_cast<size_t>(a)] == token_bytes[static_cast<size_t>(b)];
                          }),
              order.end());
  in_json_string_.assign(words_, 0);
  text_.assign(words_, 0);
  std::vector<std::vector<int32_t>> of_length(static_cast<size_t>(kMaxPlainCharacters) + 1);
  for (const int32_t id : order) {
    const Traits traits = traits_of(token_bytes[static_cast<size_t>(id)]);
    traits.plain >= 0 ? of_length[static_cast<size_t>(traits.plain)].push_back(id) : not_plain.push_back(id);
    traits.in_json ? add(in_json_string_, id) : not_json.push_back(id);
    traits.text ? add(text_, id) : not_text.push_back(id);
  }
  TokenSet set(words_, 0);
  plain_.push_back(set);
  for (const auto& ids : of_length) {
    for (const int32_t id : ids) {
      add(set, id);
    }
    if (!ids.empty()) {
      plain_.push_back(set);
    }
    plain_of_length_.push_back(plain_.size() - 1);
  }
  all_ = make_trie(token_bytes, order);
  not_plain_ = make_trie(token_bytes, not_plain);
  not_in_json_string_ = make_trie(token_bytes, not_json);
  not_text_ = make_trie(token_bytes, not_text);
}

const TokenSet& Vocabulary::plain(int32_t n_characters) const {
  const auto n = static_cast<size_t>(std::clamp(n_characters, 0, kMaxPlainCharacters));
  return plain_[plain_of_length_[n]];
}

}  // namespace orfebre::mask
