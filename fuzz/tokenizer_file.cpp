// tokenizer.json. What is accepted makes a vocabulary whose merges are those of a merger written for clarity
// alone, and whose pieces' bytes come back.
//
// Input: a mode byte. Even: the rest is the file. Odd: three lists, ended by bytes 0xFF that no JSON text
// holds, are put into a file that is right but for them: added tokens, vocabulary entries, merges.
#include "text/encoding/tokenizer_file.h"

#include "base/error.h"
#include "base/python_json.h"
#include "support/byte_source.h"
#include "support/refusal.h"
#include "text/encoding/added_tokens.h"
#include "text/encoding/pre_tokenizer.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace orfebre::fuzz {
namespace {

using text::AddedToken;
using text::Bpe;
using text::TokenizerFile;

constexpr char kSeparator = '\xff';

// Entries `"TEXT":ID` of the 256 bytes, in the order in which GPT-2's alphabet numbers them.
std::string byte_entries() {
  std::string entries;
  int next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const bool stands_for_itself =
        (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    const int code = stands_for_itself ? byte : next++;
    std::string text;
    if (code < 0x80) {
      text = static_cast<char>(code);
    } else {
      text = {static_cast<char>(0xC0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3F))};
    }
    if (byte > 0) {
      entries += ',';
    }
    append_json_string(entries, text);
    entries += ":" + std::to_string(byte);
  }
  return entries;
}

// A file that is right if the three lists are: the 256 bytes are there already, ids 0 to 255.
std::string file_around(std::string_view added, std::string_view vocabulary, std::string_view merges) {
  static const std::string kHead = [] {
    std::string head = R"("normalizer":{"type":"NFC"},"pre_tokenizer":{"type":"Sequence","pretokenizers":[)"
                       R"({"type":"Split","pattern":{"Regex":)";
    append_json_string(head, text::kSplitExpression);
    return head +
           R"(},"behavior":"Isolated","invert":false},)"
           R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]},)"
           R"("decoder":{"type":"ByteLevel"},"model":{"type":"BPE","vocab":{)" +
           byte_entries();
  }();
  std::string file = R"({"added_tokens":[)";
  file.append(added).append("],").append(kHead);
  if (!vocabulary.empty()) {
    file.append(",").append(vocabulary);
  }
  return file.append("},\"merges\":[").append(merges).append("]}}");
}

std::string_view take_list(std::string_view& rest) {
  const size_t end = std::min(rest.find(kSeparator), rest.size());
  const std::string_view list = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return list;
}

// Byte-level BPE by its definition: of the pairs side by side the lowest rank, leftmost first, until none is
// left. A pair listed twice has its last rank.
std::vector<int32_t> merged(const TokenizerFile& file, const Bpe& bpe, std::string_view piece) {
  std::vector<int32_t> ids;
  for (const char& byte : piece) {
    ids.push_back(bpe.find(std::string_view(&byte, 1)));
  }
  for (;;) {
    size_t best_rank = file.merges.size(), best_at = 0;
    for (size_t at = 0; at + 1 < ids.size(); ++at) {
      const auto last = std::find_if(file.merges.rbegin(), file.merges.rend(), [&](const Bpe::Merge& merge) {
        return merge.left == ids[at] && merge.right == ids[at + 1];
      });
      if (last == file.merges.rend()) {
        continue;
      }
      const auto rank = static_cast<size_t>(file.merges.rend() - last) - 1;
      if (best_rank == file.merges.size() || rank < best_rank) {
        best_rank = rank;
        best_at = at;
      }
    }
    if (best_rank == file.merges.size()) {
      return ids;
    }
    ids[best_at] = file.merges[best_rank].result;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(best_at) + 1);
  }
}

void check_merging(const TokenizerFile& file, const std::unordered_map<int32_t, std::string>& bytes_of) {
  const Bpe bpe(file.tokens, file.n_ids, file.merges);
  // Each token's own bytes, short and long texts of the alphabet's first letters.
  std::vector<std::string> pieces = {"abcab", "aaaaaaaabbbbcc", std::string(50, 'a') + "bcabcaab"};
  for (const Bpe::Token& token : file.tokens) {
    if (token.bytes.size() > 1 && pieces.size() < 12) {
      pieces.push_back(token.bytes);
    }
  }
  for (const std::string& piece : pieces) {
    std::vector<int32_t> ids;
    bpe.merge_piece(piece, ids);
    ORFEBRE_CHECK(ids == merged(file, bpe, piece));
    std::string bytes;
    for (const int32_t id : ids) {
      bytes += bytes_of.at(id);
    }
    ORFEBRE_CHECK(bytes == piece);
  }
}

void check_accepted(const TokenizerFile& file) {
  std::unordered_map<int32_t, std::string> bytes_of;
  for (const Bpe::Token& token : file.tokens) {
    ORFEBRE_CHECK(token.id >= 0 && token.id < file.n_ids);
    ORFEBRE_CHECK(bytes_of.emplace(token.id, token.bytes).second);
  }
  check_merging(file, bytes_of);
  const text::AddedTokenFinder finder(file.added, false);
  for (const AddedToken& token : file.added) {
    ORFEBRE_CHECK(token.id >= 0 && token.id < file.n_ids && !token.text.empty());
    ORFEBRE_CHECK(bytes_of.emplace(token.id, token.text).second);
    if (token.normalized) {
      continue;
    }
    // The longest that starts at the text's first byte is the token itself.
    std::vector<text::AddedTokenFinder::Match> matches;
    finder.find(token.text, 0, token.text.size(), matches);
    ORFEBRE_CHECK(matches.size() == 1 && matches[0].id == token.id);
  }
}

}  // namespace
}  // namespace orfebre::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orfebre;
  fuzz::ByteSource in(data, size);
  const bool in_frame = in.flag();
  std::string_view rest = in.take_rest();
  std::string file(rest);
  if (in_frame) {
    const std::string_view added = fuzz::take_list(rest);
    const std::string_view vocabulary = fuzz::take_list(rest);
    file = fuzz::file_around(added, vocabulary, fuzz::take_list(rest));
  }
  try {
    fuzz::check_accepted(text::parse_tokenizer_file(file, "tokenizer.json"));
  } catch (const Error& error) {
    fuzz::check_refusal(error, {ErrorKind::kBadCheckpoint});
  }
  return 0;
}
