// Tokenizer and detokenizer against Hugging Face tokenizers (tests/data), and on hostile text.
#include "text/tokenizer.h"

#include "base/error.h"
#include "base/python_json.h"
#include "text/detokenizer.h"
#include "text/fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace orfebre::text {
namespace {

using ::testing::HasSubstr;

const std::string kData = ORFEBRE_TEST_DATA_DIR "/text/";

const Tokenizer& small() {
  static const Tokenizer tokenizer = Tokenizer::from_file(kData + "small_tokenizer.json");
  return tokenizer;
}

std::string small_json() {
  std::ifstream file(kData + "small_tokenizer.json");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> strings() {
  return load_strings(kData + "token_strings.json");
}

void expect_ids(const Tokenizer& tokenizer, const std::string& name) {
  const auto texts = strings();
  const auto ids = load_id_lists(kData + name);
  ASSERT_GE(texts.size(), 2000u);
  ASSERT_EQ(texts.size(), ids.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(tokenizer.encode(texts[i]), ids[i]) << "string " << i;
  }
}

TEST(Tokenizer, EqualsHuggingFaceTokenizers) {
  expect_ids(small(), "token_ids_small.json");
}

TEST(Tokenizer, EqualsHuggingFaceTokenizersWithTheDemoVocabulary) {
  SCOPED_TRACE(
      "after a new demo vocabulary: tools/text/make_token_fixtures.py ids demo models/demo/tokenizer.json");
  expect_ids(Tokenizer::from_file(ORFEBRE_DEMO_MODEL_DIR "/tokenizer.json"), "token_ids_demo.json");
}

TEST(Tokenizer, DecodesWhatItEncodes) {
  for (const std::string& text : strings()) {
    const auto ids = small().encode(text);
    std::string bytes;
    for (const TokenId id : ids) {
      bytes += small().token_bytes(id);
    }
    EXPECT_EQ(small().decode(ids, false), bytes);  // well-formed: nothing was replaced
    // Encoding normalises, decoding does not undo that: a second round changes nothing.
    EXPECT_EQ(small().decode(small().encode(bytes), false), bytes);
  }
}

TEST(Tokenizer, PlainTextNeverGivesAddedTokens) {
  size_t n_differ = 0;
  for (const std::string& text : strings()) {
    const auto plain = small().encode_plain(text);
    for (const TokenId id : plain) {
      EXPECT_FALSE(small().is_added(id));
    }
    const auto normal = small().encode(text);
    const bool has_added =
        std::any_of(normal.begin(), normal.end(), [](TokenId id) { return small().is_added(id); });
    // Without look-alikes the two are one.
    EXPECT_EQ(plain == normal, !has_added);
    n_differ += has_added;
  }
  EXPECT_GT(n_differ, 150u);
}

TEST(Tokenizer, ControlTokensComeFromControlSegmentsOnly) {
  const TokenId start = *small().id_of("<|im_start|>");
  const auto count = [&](const std::vector<Segment>& segments) {
    const auto ids = small().encode(segments);
    return std::count(ids.begin(), ids.end(), start);
  };
  EXPECT_EQ(count({{"<|im_start|>", true}}), 1);
  EXPECT_EQ(count({{"<|im_start|>", false}}), 0);
  EXPECT_EQ(count({{"<|im_", true}, {"start|>", false}}), 0);
  EXPECT_EQ(count({{"<|im_", false}, {"start|>", true}}), 0);
  EXPECT_EQ(count({{"<|im_", true}, {"start|>", true}}), 0);
  EXPECT_EQ(count({{"x<|im_start|>", true}, {"<|im_start|>", false}, {"<|im_start|>", true}}), 2);
  EXPECT_EQ(small().encode(std::vector<Segment>{}), std::vector<TokenId>{});
}

TEST(Tokenizer, SegmentBordersDoNotSplitPieces) {
  std::mt19937 random(3);
  for (const std::string& text : strings()) {
    if (small().encode(text) != small().encode_plain(text)) {
      continue;
    }
    std::vector<Segment> segments;
    for (size_t pos = 0; pos < text.size();) {
      size_t end = std::min(text.size(), pos + 1 + random() % 9);
      while (end < text.size() && (text[end] & 0xC0) == 0x80) {
        ++end;
      }
      segments.push_back({text.substr(pos, end - pos), random() % 2 == 0});
      pos = end;
    }
    EXPECT_EQ(small().encode(segments), small().encode(text));
  }
}

TEST(Tokenizer, IllFormedBytesBecomeReplacements) {
  // Python: bytes.decode("utf-8", "replace").
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a\xFFz", "a\uFFFDz"},       {"\xC3", "\uFFFD"},
      {"\xE2\x82", "\uFFFD"},       {"\xE2\x82x", "\uFFFDx"},
      {"\xC0\x80", "\uFFFD\uFFFD"}, {"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"},
      {"\xF0\x9F\x98", "\uFFFD"},   {"\xF0\x9F\xC3\xA9", "\uFFFDé"},
      {"\xF5\x80", "\uFFFD\uFFFD"}, {"\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},
      {"\x80\x80", "\uFFFD\uFFFD"}, {std::string("\0\xE9", 2), std::string("\0\uFFFD", 4)}};
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(small().encode(bytes), small().encode(text));
    EXPECT_EQ(small().encode_plain(bytes), small().encode(text));
  }
}

TEST(Tokenizer, KnowsItsTokens) {
  const TokenId think = *small().id_of("<think>"), end = *small().id_of("<|im_end|>");
  EXPECT_TRUE(small().is_added(think));
  EXPECT_FALSE(small().is_special(think));
  EXPECT_TRUE(small().is_special(end));
  EXPECT_EQ(small().token_bytes(end), "<|im_end|>");
  EXPECT_EQ(small().vocab_size(), 2015 + 33);
  EXPECT_EQ(small().id_of("no such token at all"), std::nullopt);
  EXPECT_EQ(small().id_of(""), std::nullopt);
  for (TokenId id = 0; id < small().vocab_size(); ++id) {
    EXPECT_EQ(small().id_of(small().token_bytes(id)), id);
  }
  for (const TokenId id : {-1, small().vocab_size(), 1 << 30}) {
    EXPECT_EQ(small().token_bytes(id), "");
    EXPECT_FALSE(small().is_special(id));
    EXPECT_FALSE(small().is_added(id));
  }
  EXPECT_EQ(small().decode(std::vector<TokenId>{think, end, -5, 1 << 29}), "<think>");
  EXPECT_EQ(small().decode(std::vector<TokenId>{think, end}, false), "<think><|im_end|>");
}

TEST(Tokenizer, ManyThreadsGetTheSameIds) {
  const auto texts = strings();
  const Tokenizer fresh = Tokenizer::from_file(kData + "small_tokenizer.json");
  std::vector<std::vector<std::vector<TokenId>>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results) {
    threads.emplace_back([&] {
      for (const std::string& text : texts) {
        result.push_back(fresh.encode(text));
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    for (const auto& result : results) {
      EXPECT_EQ(result[i], small().encode(texts[i]));
    }
  }
}

TEST(Tokenizer, ReadsBothFormatsOfMerges) {
  // The fixture has pairs; rewrite them as strings with a space.
  std::string json = small_json();
  simdjson::dom::parser parser;
  const simdjson::dom::element root = parser.parse(json);
  const simdjson::dom::array pairs = root["model"]["merges"].get_array();
  std::string merges = "\"merges\": [";
  for (const auto pair : pairs) {
    if (merges.back() != '[') {
      merges += ", ";
    }
    const std::string_view left = pair.at(0), right = pair.at(1);
    append_json_string(merges, std::string(left) + " " + std::string(right));
  }
  const size_t begin = json.find("\"merges\": ["), end = json.rfind("]]") + 1;
  ASSERT_NE(begin, std::string::npos);
  json.replace(begin, end - begin, merges);
  const Tokenizer rewritten = Tokenizer::from_json(json, "rewritten");
  const auto texts = strings();
  for (size_t i = 0; i < texts.size(); i += 10) {
    EXPECT_EQ(rewritten.encode(texts[i]), small().encode(texts[i]));
  }
}

TEST(Tokenizer, NormalizedAddedTokensMatchAfterNfc) {
  std::string json = small_json();
  const std::string entry =
      R"({"id": 2048, "content": "caf\u00e9!", "single_word": false, "lstrip": false, "rstrip": false,
                              "normalized": true, "special": false}, )";
  json.insert(json.find("\"added_tokens\": [") + 17, entry);
  const Tokenizer tokenizer = Tokenizer::from_json(json, "with a normalized token");
  const auto has = [&](const std::vector<TokenId>& ids) {
    return std::count(ids.begin(), ids.end(), 2048) > 0;
  };
  EXPECT_TRUE(has(tokenizer.encode("a cafe\u0301! b")));
  EXPECT_TRUE(has(tokenizer.encode("caf\u00e9!")));
  EXPECT_FALSE(has(tokenizer.encode("cafe!")));
  EXPECT_FALSE(has(tokenizer.encode_plain("caf\u00e9!")));
}

struct Damage {
  const char* from;
  const char* to;
  const char* place;  // that the error names
};

TEST(Tokenizer, RefusesOtherSettingsWithASentence) {
  const std::string json = small_json();
  const std::vector<Damage> damages = {
      {R"("normalizer": {"type": "NFC"})", R"("normalizer": {"type": "NFKC"})", "normalizer.type"},
      {R"("normalizer": {"type": "NFC"})", R"("normalizer": null)", "normalizer"},
      {R"((?i:'s)", R"((?i:'z)", "pre_tokenizer.pretokenizers[0].pattern.Regex"},
      {R"("behavior": "Isolated")", R"("behavior": "Removed")", "behavior"},
      {R"("invert": false)", R"("invert": true)", "invert"},
      {R"("use_regex": false)", R"("use_regex": true)", "use_regex"},
      {R"("type": "BPE")", R"("type": "Unigram")", "model.type"},
      {R"("ignore_merges": false)", R"("ignore_merges": true)", "model.ignore_merges"},
      {R"("byte_fallback": false)", R"("byte_fallback": true)", "model.byte_fallback"},
      {R"("dropout": null)", R"("dropout": 0.1)", "model.dropout"},
      {R"("lstrip": false)", R"("lstrip": true)", "added_tokens[0].lstrip"},
      {R"("id": 2016)", R"("id": 2015)", "added_tokens[1].id"},
      {R"("id": 2016)", R"("id": 7)", "model.vocab"},
      {R"("id": 2016)", R"("id": -1)", "added_tokens[1].id"},
      {R"("id": 2016)", R"("id": 99999999999)", "added_tokens[1].id"},
      {R"("id": 2016)", R"("id": "x")", "added_tokens[1].id"},
      {R"("content": "<|im_end|>")", R"("content": "<|im_start|>")", "added_tokens[2].content"},
      {R"("content": "<|im_end|>")", R"("content": "")", "added_tokens[2].content"},
      {R"("content": "<|im_end|>")", R"("content": "th")", "model.vocab"},
      {R"("vocab": {"!": 0)", R"("vocab": {"!!!": 0)", "model.vocab"},
      {R"("vocab": {"!": 0)", R"("vocab": {"!": 1)", "model.vocab"},
      {R"("vocab": {"!": 0)", R"("vocab": {"\u4e2d": 0)", "model.vocab"},
      {R"("merges": [[)", R"("merges": [["!", "!!!!!"], [)", "model.merges[0]"},
      {R"("merges": [[)", R"("merges": [["!"], [)", "model.merges[0]"},
      {R"("merges": [[)", R"("merges": ["!!", [)", "model.merges[0]"},
      {R"("merges": [[)", R"("merges": [7, [)", "model.merges[0]"},
      {R"("decoder": {"type": "ByteLevel")", R"("decoder": {"type": "Fuse")", "decoder.type"}};
  for (const Damage& damage : damages) {
    std::string damaged = json;
    const size_t at = damaged.find(damage.from);
    ASSERT_NE(at, std::string::npos) << damage.from;
    damaged.replace(at, std::string(damage.from).size(), damage.to);
    try {
      Tokenizer::from_json(damaged, "tokenizer.json");
      ADD_FAILURE() << "accepted " << damage.to;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kBadCheckpoint);
      EXPECT_THAT(e.what(), HasSubstr("tokenizer.json"));
      EXPECT_THAT(e.what(), HasSubstr(damage.place));
      EXPECT_THAT(e.what(), HasSubstr("expected"));
      EXPECT_THAT(e.what(), HasSubstr("found"));
    }
  }
}

// What an error quotes of a file must not speak to the terminal that shows it.
TEST(Tokenizer, ErrorsQuoteNoControlCharacters) {
  try {
    Tokenizer::from_json(R"({"normalizer":{"type":"\u001b[31mred"}})", "tokenizer.json");
    ADD_FAILURE() << "accepted";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("found ?[31mred"));
  }
}

// Cut and flipped files: refused or read, never anything else.
TEST(Tokenizer, DamagedFilesNeverCrash) {
  const std::string json = small_json();
  std::mt19937 random(4);
  size_t n_refused = 0;
  for (int round = 0; round < 400; ++round) {
    std::string damaged = json;
    if (round % 4 == 0) {
      damaged.resize(random() % json.size());
    } else {
      for (int flips = 0; flips < 3; ++flips) {
        damaged[random() % damaged.size()] = "\"[]{}:,0\\x\xFF"[random() % 11];
      }
    }
    try {
      Tokenizer::from_json(damaged, "damaged").encode("some text");
    } catch (const Error&) {
      ++n_refused;
    }
  }
  EXPECT_GT(n_refused, 200u);
  for (const char* text : {"", "null", "[]", "{}", "1", "{\"model\":{}}", "\xFF"}) {
    EXPECT_THROW(Tokenizer::from_json(text, "x"), Error);
  }
  EXPECT_THROW(Tokenizer::from_file(kData + "no_such_file.json"), Error);
  EXPECT_THROW(Tokenizer::from_file(kData), Error);
  EXPECT_THROW(Tokenizer::from_file("/dev/zero"), Error);  // has no end
}

TEST(Detokenizer, StreamsWholeCharactersOnly) {
  for (const std::string& text : strings()) {
    const auto ids = small().encode(text);
    Detokenizer detokenizer(small(), false);
    std::string streamed;
    for (const TokenId id : ids) {
      const std::string out = detokenizer.push(id);
      EXPECT_EQ(small().decode(small().encode(out)).find("\uFFFD") != std::string::npos,
                out.find("\uFFFD") != std::string::npos);
      streamed += out;
    }
    EXPECT_EQ(detokenizer.flush(), "");
    EXPECT_EQ(streamed, small().decode(ids, false));
  }
}

TEST(Detokenizer, EqualsDecodeForAnyIds) {
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    std::vector<TokenId> ids(random() % 20);
    // Mostly single bytes, so that characters begin, break off and go on at random.
    for (TokenId& id : ids) {
      id = static_cast<TokenId>(random() % (round % 2 == 0 ? 256 : small().vocab_size() + 5));
    }
    const bool skip_special = round % 3 == 0;
    Detokenizer detokenizer(small(), skip_special);
    std::string streamed;
    for (const TokenId id : ids) {
      streamed += detokenizer.push(id);
    }
    streamed += detokenizer.flush();
    EXPECT_EQ(streamed, small().decode(ids, skip_special));
  }
}

TEST(Detokenizer, HoldsTheBeginningOfACharacter) {
  Detokenizer detokenizer(small());
  EXPECT_EQ(detokenizer.push_bytes("a\xF0\x9F"), "a");
  EXPECT_EQ(detokenizer.push_bytes("\x98"), "");
  EXPECT_EQ(detokenizer.push_bytes("\x80z\xE2"), "😀z");
  EXPECT_EQ(detokenizer.push_bytes("x"), "\uFFFDx");
  EXPECT_EQ(detokenizer.push_bytes("\xE2\x82"), "");
  EXPECT_EQ(detokenizer.flush(), "\uFFFD");
  EXPECT_EQ(detokenizer.flush(), "");
}

}  // namespace
}  // namespace orfebre::text
