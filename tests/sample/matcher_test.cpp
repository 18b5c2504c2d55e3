// Masks against the definition: a token is allowed exactly if the grammar goes on by its bytes.
#include "sample/mask/matcher.h"
#include "sample/schema/compile.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

namespace orfebre::mask {
namespace {

using schema::AnswerForm;

// Tokens of all kinds that shortcuts could get wrong: plain ones of many lengths, quotes, escapes, cut
// characters, line breaks, tags.
std::vector<std::string> make_tokens(std::mt19937& random) {
  std::set<std::string> tokens;
  for (int b = 0; b < 256; ++b) {
    tokens.insert(std::string(1, static_cast<char>(b)));
  }
  const std::vector<std::string> parts{"a",
                                       "b",
                                       "value",
                                       " ",
                                       "  ",
                                       "\"",
                                       "\\",
                                       "\\n",
                                       "\\u00",
                                       "\\u12aF",
                                       "\\ud8",
                                       "3d\\ude00",
                                       "\n",
                                       "\t",
                                       "{",
                                       "}",
                                       "[",
                                       "]",
                                       ",",
                                       ":",
                                       ": ",
                                       "0",
                                       "12",
                                       "-",
                                       ".5",
                                       "e",
                                       "\xC3\xA9",
                                       "\xC3",
                                       "\xA9",
                                       "\xE2\x80\xA8",
                                       "\xF0\x9F\x98\x80",
                                       "\xF0\x9F",
                                       "<",
                                       "</",
                                       "parameter>",
                                       "function>",
                                       "true",
                                       "null",
                                       "\x01",
                                       "\x7F",
                                       "abcdefghij"};
  while (tokens.size() < 3000) {
    std::string token;
    for (size_t n = 1 + random() % 4; n > 0; --n) {
      token += parts[random() % parts.size()];
    }
    tokens.insert(token);
  }
  std::vector<std::string> list(tokens.begin(), tokens.end());
  std::shuffle(list.begin(), list.end(), random);
  list[5].clear();  // a control token
  return list;
}

std::vector<AnswerForm> forms() {
  std::vector<AnswerForm> all;
  for (
      const char* text :
      {R"({})", R"({"type":"string"})", R"({"type":"string","maxLength":7})",
       R"({"type":"string","minLength":3,"maxLength":40})", R"({"type":"string","minLength":60})",
       R"({"type":"string","pattern":"^[a-b]{1,9}(\\n|x)*$"})", R"({"type":"string","pattern":"^.{2,30}e$"})",
       R"({"anyOf":[{"type":"string","maxLength":3},{"type":"string","pattern":"^value"},{"type":"null"}]})",
       R"({"type":"array","items":{"type":"string","maxLength":12},"minItems":1,"maxItems":70})",
       R"({"type":"array","items":{"type":"integer","minimum":-12,"maximum":1212},"minItems":2})",
       R"({"type":"object","properties":{"a":{"type":"number"},"value":{"type":"boolean"},"b":{"type":"string"}},
            "required":["b"],"additionalProperties":{"enum":["a","ab",1,null,{"a":[1,2]}]}})",
       R"({"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"a":{"type":"array",
            "items":{"$ref":"#/$defs/n"}},"b":{"type":"string","format":"date"}}}}})"}) {
    AnswerForm form;
    form.schema = parse_python_json(text, "schema");
    form.leading_breaks = all.size() % 2 == 0;
    all.push_back(std::move(form));
  }
  AnswerForm calls;
  calls.tools = {
      {"f",
       parse_python_json(R"({"properties":{"a":{"type":"string"},"b":{"type":"string","maxLength":9},
      "c":{"type":["integer","null"]},"d":{}},"required":["a"]})",
                         "f"),
       "f", false},
      {"g", {}, "g", false}};
  calls.call_tokens = {5, std::nullopt};
  all.push_back(calls);
  calls.any_object = true;
  calls.parallel_calls = false;
  all.push_back(std::move(calls));
  return all;
}

// Walks at random, and asks about every token at every place.
TEST(Matcher, MasksAllowWhatTheGrammarDoes) {
  std::mt19937 random(3);
  const std::vector<std::string> tokens = make_tokens(random);
  const std::vector<std::string_view> views(tokens.begin(), tokens.end());
  const auto vocabulary = std::make_shared<Vocabulary>(views);
  int n_places = 0, n_allowed = 0, n_ends = 0;
  const std::vector<AnswerForm> all = forms();
  for (const AnswerForm& form : all) {
    const auto program = schema::compile_answer(form);
    for (int walk = 0; walk < 6; ++walk) {
      Matcher matcher(program, vocabulary);
      if (!form.tools.empty() && walk > 0) {  // into a value, which a random walk would reach too late
        ASSERT_TRUE(matcher.advance_control(5));
        ASSERT_TRUE(matcher.advance("\n<function=f>\n<parameter=a>\n"));
        ASSERT_TRUE(walk % 2 == 0 || matcher.advance("x < y\n</parameter>\n<parameter=b>\n"));
      }
      for (int step = 0; step < 25 && !matcher.at_end(); ++step, ++n_places) {
        std::vector<uint32_t> words(vocabulary->mask_words(), 0);
        matcher.fill_mask(words);
        std::vector<int32_t> allowed;
        for (size_t id = 0; id < tokens.size(); ++id) {
          const auto token = static_cast<int32_t>(id);
          const bool expected = tokens[id].empty() ? matcher.takes_control(token) : matcher.takes(tokens[id]);
          ASSERT_EQ((words[id / 32] >> (id % 32) & 1) != 0, expected)
              << "token '" << tokens[id] << "' at step " << step << " of form " << &form - all.data();
          if (expected) {
            allowed.push_back(token);
          }
        }
        ASSERT_FALSE(allowed.empty());
        n_allowed += static_cast<int>(allowed.size());
        const int32_t next = allowed[random() % allowed.size()];
        const std::string& bytes = tokens[static_cast<size_t>(next)];
        ASSERT_TRUE(bytes.empty() ? matcher.advance_control(next) : matcher.advance(bytes));
      }
      n_ends += matcher.at_end() ? 1 : 0;
    }
  }
  EXPECT_GT(n_places, 500);
  EXPECT_GT(n_allowed, 50'000);
  EXPECT_GT(n_ends, 5);
}

// Hundreds of patterns at once, each with many states: a mask may then allow less, but never nothing.
TEST(Matcher, WorkOfAMaskIsBounded) {
  std::mt19937 random(9);
  std::set<std::string> distinct;
  for (int b = 0; b < 256; ++b) {
    distinct.insert(std::string(1, static_cast<char>(b)));
  }
  while (distinct.size() < 8'000) {
    std::string token;
    for (size_t n = 2 + random() % 6; n > 0; --n) {
      token += "abcdefgh"[random() % 8];
    }
    distinct.insert(token);
  }
  const std::vector<std::string> tokens(distinct.begin(), distinct.end());
  const std::vector<std::string_view> views(tokens.begin(), tokens.end());
  std::string branches;
  for (int i = 0; i < 200; ++i) {
    branches += fmt::format("{}{{\"type\":\"string\",\"pattern\":\"^([a-h]{{{}}}x?)*[{}]\"}}",
                            i == 0 ? "" : ",", i % 17 + 2, "abcdefgh"[i % 8]);
  }
  AnswerForm form;
  form.schema = parse_python_json("{\"anyOf\":[" + branches + "]}", "schema");
  const auto vocabulary = std::make_shared<Vocabulary>(views);
  Matcher matcher(schema::compile_answer(form), vocabulary);
  ASSERT_TRUE(matcher.advance("\""));
  for (int step = 0; step < 4; ++step) {
    std::vector<uint32_t> words(vocabulary->mask_words(), 0);
    matcher.fill_mask(words);
    ASSERT_LT(matcher.n_configs(), Matcher::kMaxConfigs + Matcher::kMaxMaskWork / 16 + 1000);
    std::vector<std::string> allowed;
    for (size_t id = 0; id < tokens.size(); ++id) {
      if ((words[id / 32] >> (id % 32) & 1) != 0) {
        allowed.push_back(tokens[id]);
        ASSERT_TRUE(matcher.takes(tokens[id]));
      }
    }
    ASSERT_GE(allowed.size(), 9U);
    ASSERT_TRUE(matcher.advance(allowed[random() % allowed.size()]));
  }
}

TEST(Matcher, TextInACallCannotCloseTheCall) {
  const std::vector<std::string_view> tokens{"a"};
  AnswerForm form;
  form.tools = {{"f",
                 parse_python_json(R"({"properties":{"s":{"type":"string","minLength":3,"maxLength":40},
      "t":{"enum":["one","</parameter>"]}},"required":["s"]})",
                                   "f"),
                 "f", false}};
  form.parallel_calls = false;
  Matcher matcher(schema::compile_answer(form), std::make_shared<Vocabulary>(tokens));
  ASSERT_TRUE(matcher.advance("<tool_call>\n<function=f>\n<parameter=s>\n"));
  for (const char* bad : {"</parameter>abc", "<b></function>", "abc</tool_call>", "ab\n</parameter>\n</f",
                          "abc\n</parameter>x", "\xC3(abc"}) {
    EXPECT_FALSE(matcher.takes(bad)) << bad;
  }
  EXPECT_TRUE(matcher.takes("</param> <tool_call> </ function>\n<x>"));
  EXPECT_FALSE(matcher.takes(std::string(41, 'x')));
  ASSERT_TRUE(matcher.advance("abc\n\n</parameter>\n"));
  EXPECT_FALSE(matcher.takes("<parameter=t>\n</"));
  EXPECT_TRUE(matcher.takes("<parameter=t>\none\n</parameter>\n</function>\n</tool_call>"));
  ASSERT_TRUE(matcher.advance("</function>\n</tool_call>"));
  EXPECT_TRUE(matcher.at_end());
}

TEST(Matcher, RefusesWithoutMoving) {
  const std::vector<std::string_view> tokens{"{", "}", "x"};
  AnswerForm form;
  form.any_object = true;
  Matcher matcher(schema::compile_answer(form), std::make_shared<Vocabulary>(tokens));
  EXPECT_FALSE(matcher.accepts());
  EXPECT_FALSE(matcher.advance("x"));
  EXPECT_FALSE(matcher.advance_control(1));
  EXPECT_TRUE(matcher.advance("{"));
  EXPECT_FALSE(matcher.advance("\"a\": 1 x"));
  EXPECT_TRUE(matcher.advance("}"));
  EXPECT_TRUE(matcher.at_end());
  EXPECT_FALSE(matcher.advance("}"));
}

// A long text that never repeats a place: memory stays bounded, and the answers stay right.
TEST(Matcher, ForgetsWhatItDoesNotNeed) {
  std::vector<std::string> bytes;
  for (int b = 0; b < 256; ++b) {
    bytes.emplace_back(1, static_cast<char>(b));
  }
  const std::vector<std::string_view> tokens(bytes.begin(), bytes.end());
  AnswerForm form;
  form.schema =
      parse_python_json(R"({"$defs":{"n":{"type":"array","items":{"$ref":"#/$defs/n"},"maxItems":3}},
      "$ref":"#/$defs/n"})",
                        "schema");
  Matcher matcher(schema::compile_answer(form), std::make_shared<Vocabulary>(tokens));
  constexpr int kDepth = 15'000;
  const auto step = [&](char c) {
    std::vector<uint32_t> words(8, 0);
    matcher.fill_mask(words);
    const auto id = static_cast<unsigned char>(c);
    ASSERT_NE(words[id / 32] >> (id % 32) & 1, 0U);
    ASSERT_EQ(words['x' / 32] >> ('x' % 32) & 1, 0U);
    ASSERT_TRUE(matcher.advance(std::string_view(&c, 1)));
    ASSERT_LT(matcher.n_configs(), Matcher::kMaxConfigs + 1000);
  };
  for (int i = 0; i < kDepth; ++i) {
    step('[');
  }
  for (int i = 0; i < kDepth; ++i) {
    EXPECT_FALSE(matcher.accepts());
    step(']');
  }
  EXPECT_TRUE(matcher.at_end());
}

}  // namespace
}  // namespace orfebre::mask
