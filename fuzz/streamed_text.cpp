// A reply's text on its way from ids to the client: detokenizer, stop matcher, stop scanner. Each is held
// against a definition over the whole text, in chunks that the input chooses.
//
// Input: decisions: the stop strings, whether the reply starts in thinking, then the ids.
#include "base/error.h"
#include "server/reply/stop_policy.h"
#include "support/byte_source.h"
#include "text/detokenizer.h"
#include "text/encoding/normalizer.h"
#include "text/stop_matcher.h"
#include "text/utf8.h"

#include <algorithm>
#include <array>
#include <optional>

namespace orfebre::fuzz {
namespace {

using text::TokenId;

constexpr std::array<std::string_view, 16> kWords = {
    "a",  "b",        "ab",           "aab",  "\n",       "\n\n",         " ",    "</",
    "th", "</think>", "</think>\n\n", "ink>", "\xC3\xA9", "\xE2\x82\xAC", "\xE2", "aba"};

const text::Tokenizer& tokenizer() {
  static const text::Tokenizer kTokenizer =
      text::Tokenizer::from_file(ORFEBRE_DEMO_MODEL_DIR "/tokenizer.json");
  return kTokenizer;
}

// Ids of a text, ids at random, among them those past the vocabulary and below it, and single bytes.
std::vector<TokenId> make_ids(ByteSource& in) {
  std::vector<TokenId> ids;
  while (!in.empty()) {
    switch (in.below(4)) {
      case 0: {
        const std::vector<TokenId> encoded = tokenizer().encode(in.text(kWords));
        ids.insert(ids.end(), encoded.begin(), encoded.end());
        break;
      }
      case 1: ids.push_back(static_cast<TokenId>(in.byte()) * 256 + in.byte() - 8); break;
      default: {
        const char byte = static_cast<char>(in.byte());
        ids.push_back(tokenizer().id_of(std::string_view(&byte, 1)).value());
      }
    }
  }
  return ids;
}

// The first end of a stop string in `text` at or after `from`, the longest of those that end there.
struct Match {
  size_t begin;
  int index;
};
std::optional<Match> first_match(std::string_view text, std::span<const std::string> stops) {
  for (size_t end = 1; end <= text.size(); ++end) {
    std::optional<Match> longest;
    for (size_t s = 0; s < stops.size(); ++s) {
      if (stops[s].empty() || !text.substr(0, end).ends_with(stops[s])) {
        continue;
      }
      const size_t begin = end - stops[s].size();
      if (!longest || begin < longest->begin) {
        longest = Match{begin, static_cast<int>(s)};
      }
    }
    if (longest) {
      return longest;
    }
  }
  return std::nullopt;
}

// How many bytes at the end of `text` may still become a stop string.
size_t held_bytes(std::string_view text, std::span<const std::string> stops) {
  size_t held = 0;
  for (const std::string& stop : stops) {
    for (size_t n = std::min(text.size(), stop.size() - (stop.empty() ? 0 : 1)); n > held; --n) {
      if (text.ends_with(std::string_view(stop).substr(0, n))) {
        held = n;
      }
    }
  }
  return held;
}

// The chunks of a reply: one for each token, none of them with part of a character.
std::vector<std::string> check_detokenizer(const std::vector<TokenId>& ids) {
  std::vector<std::string> chunks;
  std::string all;
  text::Detokenizer detokenizer(tokenizer());
  for (const TokenId id : ids) {
    chunks.push_back(detokenizer.push(id));
    ORFEBRE_CHECK(text::is_well_formed(chunks.back()));
    all += chunks.back();
  }
  chunks.push_back(detokenizer.flush());
  ORFEBRE_CHECK(all + chunks.back() == tokenizer().decode(ids));
  return chunks;
}

void check_matcher(const std::vector<std::string>& chunks, std::span<const std::string> stops) {
  text::StopMatcher matcher(stops);
  std::string text, emitted;
  std::optional<Match> match;
  for (const std::string& chunk : chunks) {
    text += chunk;
    const text::StopMatcher::Result result = matcher.push(chunk);
    emitted += result.text;
    if (match) {
      ORFEBRE_CHECK(result.text.empty() && result.stop_index == -1);
      continue;
    }
    match = first_match(text, stops);
    ORFEBRE_CHECK(result.stop_index == (match ? match->index : -1));
    ORFEBRE_CHECK(matcher.stopped() == match.has_value());
    const size_t n_safe = match ? match->begin : text.size() - held_bytes(text, stops);
    ORFEBRE_CHECK(emitted == text.substr(0, n_safe));
  }
  emitted += matcher.flush();
  ORFEBRE_CHECK(emitted == text.substr(0, match ? match->begin : text.size()));
}

// Where stop strings begin to count: behind the thinking and its white space.
size_t answer_begin(const std::string& text, bool starts_in_think) {
  constexpr std::string_view kThinkEnd = "</think>";
  if (!starts_in_think) {
    return 0;
  }
  const size_t end = text.find(kThinkEnd);
  if (end == std::string::npos) {
    return text.size();
  }
  return std::min(text.find_first_not_of(" \t\r\n", end + kThinkEnd.size()), text.size());
}

void check_scanner(const std::vector<std::string>& chunks, std::span<const std::string> stops,
                   bool starts_in_think) {
  StopScanner scanner(stops, starts_in_think);
  std::string text, emitted;
  for (const std::string& chunk : chunks) {
    text += chunk;
    emitted += scanner.push(chunk).text;
  }
  emitted += scanner.flush();
  const size_t begin = answer_begin(text, starts_in_think);
  const auto match = first_match(std::string_view(text).substr(begin), stops);
  ORFEBRE_CHECK(scanner.stopped() == match.has_value());
  ORFEBRE_CHECK(scanner.in_think() == (starts_in_think && text.find("</think>") == std::string::npos));
  ORFEBRE_CHECK(emitted == text.substr(0, match ? begin + match->begin : text.size()));
}

// Text of anybody else's makes no control token and comes back as it was, up to normalisation.
void check_plain_text(std::string_view bytes) {
  const std::vector<TokenId> ids = tokenizer().encode_plain(bytes);
  ORFEBRE_CHECK(std::none_of(ids.begin(), ids.end(), [](TokenId id) { return tokenizer().is_added(id); }));
  ORFEBRE_CHECK(tokenizer().decode(ids, false) == text::to_nfc(text::replace_ill_formed(bytes)));
}

}  // namespace
}  // namespace orfebre::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orfebre;
  fuzz::ByteSource in(data, size);
  const bool starts_in_think = in.flag();
  std::vector<std::string> stops(in.below(5));
  for (std::string& stop : stops) {
    stop = in.text(fuzz::kWords);
  }
  fuzz::check_plain_text(in.take(in.byte()));
  const std::vector<std::string> chunks = fuzz::check_detokenizer(fuzz::make_ids(in));
  fuzz::check_matcher(chunks, stops);
  fuzz::check_scanner(chunks, stops, starts_in_think);
  return 0;
}
