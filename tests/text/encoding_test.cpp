// The tokenizer's parts, each against its definition.
#include "text/encoding/added_tokens.h"
#include "text/encoding/bpe.h"
#include "text/encoding/normalizer.h"
#include "text/encoding/pre_tokenizer.h"
#include "text/fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace orfebre::text {
namespace {

const std::string kData = ORFEBRE_TEST_DATA_DIR "/text/";

std::vector<std::string> pieces(std::string_view text) {
  static const PreTokenizer pre_tokenizer;
  std::vector<std::string> out;
  pre_tokenizer.split(text, [&](std::string_view piece) { out.emplace_back(piece); });
  return out;
}

TEST(PreTokenizer, CutsAsHuggingFaceTokenizersDo) {
  const auto texts = load_strings(kData + "token_strings.json");
  const auto counts = load_id_lists(kData + "token_pieces.json").at(0);
  ASSERT_EQ(texts.size(), counts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string normal = to_nfc(texts[i]);
    const auto cut = pieces(normal);
    EXPECT_EQ(static_cast<int32_t>(cut.size()), counts[i]) << "string " << i;
    std::string joined;
    for (const std::string& piece : cut) {
      joined += piece;
    }
    EXPECT_EQ(joined, normal);
  }
}

TEST(PreTokenizer, KnowsWhatIsSpace) {
  // U+180E is no white space since Unicode 6.3, U+0085 and U+3000 are.
  EXPECT_EQ(pieces("!\u180E!"), (std::vector<std::string>{"!\u180E!"}));
  EXPECT_EQ(pieces("!\u0085!"), (std::vector<std::string>{"!", "\u0085", "!"}));
  EXPECT_EQ(pieces("a  \u3000b"), (std::vector<std::string>{"a", "  ", "\u3000b"}));
  EXPECT_EQ(pieces("a   b"), (std::vector<std::string>{"a", "  ", " b"}));
  EXPECT_EQ(pieces("a \n\n b"), (std::vector<std::string>{"a", " \n\n", " b"}));
}

TEST(PreTokenizer, LettersTakeMarksAndDigitsStandAlone) {
  EXPECT_EQ(pieces("e\u0301q\u0307 123"), (std::vector<std::string>{"e\u0301q\u0307", " ", "1", "2", "3"}));
  EXPECT_EQ(pieces("I'LL don't"), (std::vector<std::string>{"I", "'LL", " don", "'t"}));
}

TEST(Normalizer, TheCheapTestIsNeverWrong) {
  size_t n_sure = 0;
  for (const std::string& text : load_strings(kData + "token_strings.json")) {
    const std::string normal = to_nfc(text);
    EXPECT_EQ(to_nfc(normal), normal);
    if (!is_surely_nfc(text)) {
      continue;
    }
    ++n_sure;
    EXPECT_EQ(normal, text);
  }
  EXPECT_GT(n_sure, 700u);
}

TEST(Normalizer, ComposesAndOrders) {
  EXPECT_EQ(to_nfc("e\u0301"), "\u00E9");
  EXPECT_EQ(to_nfc("a\u0302\u0323"), "\u1EAD");
  EXPECT_EQ(to_nfc("q\u0307\u0323"), "q\u0323\u0307");
  EXPECT_EQ(to_nfc("\u212B\u2126"), "\u00C5\u03A9");
  EXPECT_EQ(to_nfc("\u1112\u1161\u11AB"), "\uD55C");
  EXPECT_EQ(to_nfc("\u0958"), "\u0915\u093C");  // excluded from composition
  EXPECT_EQ(to_nfc("\uFB01"), "\uFB01");        // compatibility only
  EXPECT_EQ(to_nfc("a\u0345\u0301"), "\u00E1\u0345");
  EXPECT_EQ(to_nfc("a\u0315\u1ACA"), "a\u0315\u1ACA");  // newer than Unicode 9: stays in its place
  EXPECT_EQ(to_nfc(std::string_view("a\0e\u0301", 5)), std::string("a\0\u00E9", 4));
}

TEST(AddedTokenFinder, PrefersTheLongestOfTheEarliest) {
  const std::vector<AddedToken> tokens = {
      {1, "<a>", true, false}, {2, "<a><b>", true, false}, {3, "b>", true, false}, {4, "<n>", true, true}};
  const AddedTokenFinder finder(tokens, false);
  const auto ids = [&](std::string_view text, size_t begin, size_t end) {
    std::vector<AddedTokenFinder::Match> matches;
    finder.find(text, begin, end, matches);
    std::vector<int32_t> out;
    for (const auto& match : matches) {
      out.push_back(match.id);
    }
    return out;
  };
  using Ids = std::vector<int32_t>;
  EXPECT_EQ(ids("<a><b>", 0, 6), Ids({2}));
  EXPECT_EQ(ids("<a><b>", 0, 5), Ids({1}));
  EXPECT_EQ(ids("<a><b>", 1, 6), Ids({3}));
  EXPECT_EQ(ids("<a> <b> <n>", 0, 11), Ids({1, 3}));
  EXPECT_FALSE(AddedTokenFinder(tokens, true).empty());
  EXPECT_TRUE(AddedTokenFinder({}, false).empty());
}

// A vocabulary over "abcd" with random merges, and merging spelled out: the lowest rank first, then the
// leftmost.
struct RandomBpe {
  std::vector<Bpe::Token> tokens;
  std::vector<Bpe::Merge> merges;

  explicit RandomBpe(std::mt19937& random) {
    std::map<std::string, int32_t> ids;
    const auto add = [&](const std::string& bytes) {
      tokens.push_back({static_cast<int32_t>(tokens.size()), bytes});
      ids.emplace(bytes, tokens.back().id);
    };
    for (int b = 0; b < 256; ++b) {
      add(std::string(1, static_cast<char>(b)));
    }
    std::vector<std::string> known = {"a", "b", "c", "d"};
    for (int m = 0; m < 40; ++m) {
      const std::string left = known[random() % known.size()], right = known[random() % known.size()];
      if (left.size() + right.size() > 9) {
        continue;
      }
      if (!ids.contains(left + right)) {
        add(left + right);
        known.push_back(left + right);
      }
      merges.push_back({ids[left], ids[right], ids[left + right]});
    }
    std::shuffle(merges.begin(), merges.end(), random);  // so that many tokens are out of reach
  }

  std::vector<int32_t> by_definition(const std::string& text) const {
    std::vector<int32_t> ids;
    for (const char c : text) {
      ids.push_back(static_cast<unsigned char>(c));
    }
    std::map<std::pair<int32_t, int32_t>, size_t> ranks;
    for (size_t m = 0; m < merges.size(); ++m) {
      ranks[{merges[m].left, merges[m].right}] = m;
    }
    for (;;) {
      size_t best_rank = merges.size(), best = 0;
      for (size_t i = 0; i + 1 < ids.size(); ++i) {
        const auto found = ranks.find({ids[i], ids[i + 1]});
        if (found != ranks.end() && found->second < best_rank) {
          best_rank = found->second;
          best = i;
        }
      }
      if (best_rank == merges.size()) {
        return ids;
      }
      ids[best] = merges[best_rank].result;
      ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }
  }
};

TEST(Bpe, MergesByDefinition) {
  std::mt19937 random(7);
  size_t n_unreachable = 0;
  for (int round = 0; round < 60; ++round) {
    const RandomBpe source(random);
    const Bpe bpe(source.tokens, static_cast<int32_t>(source.tokens.size()), source.merges);
    std::vector<std::string> texts;
    for (const auto& token : source.tokens) {
      texts.push_back(token.bytes);
    }
    for (int t = 0; t < 60; ++t) {
      std::string text;
      for (size_t n = 1 + random() % (t % 3 == 0 ? 200 : 60); n > 0; --n) {
        text += "abcd"[random() % 4];
      }
      texts.push_back(text);
    }
    for (const std::string& text : texts) {
      const auto expected = source.by_definition(text);
      for (int again = 0; again < 2; ++again) {  // the second time from what the first has learnt
        std::vector<int32_t> ids = {-7};         // appended to
        bpe.merge_piece(text, ids);
        ids.erase(ids.begin());
        ASSERT_EQ(ids, expected) << text;
      }
      n_unreachable += bpe.find(text) != Bpe::kNone && expected.size() > 1;
    }
  }
  EXPECT_GT(n_unreachable, 50u);
}

}  // namespace
}  // namespace orfebre::text
