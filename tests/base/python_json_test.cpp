// The JSON reader and writer against Python's own (tests/data), and what they must refuse.
#include "base/python_json.h"

#include "base/error.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace orfebre {
namespace {

TEST(PythonJson, PrintsAsPythonDoes) {
  std::ifstream file(ORFEBRE_TEST_DATA_DIR "/text/python_json.txt");
  std::string raw, expected;
  int n = 0;
  while (std::getline(file, raw) && std::getline(file, expected)) {
    ++n;
    EXPECT_EQ(python_json_dumps(parse_python_json(raw, "test", true)), expected) << raw;
  }
  EXPECT_GE(n, 900);
}

TEST(PythonJson, RefusesWhatIsNotJson) {
  for (const char* bad :
       {"",     " ",          "{",    "[1,",     "[1 2]",     "{\"a\"}",     "{\"a\":}",      "{a:1}",
        "01",   "1.",         ".5",   "+1",      "-",         "1e",          "1e+",           "tru",
        "nul",  "\"",         "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"a\nb\"",      "1 2",
        "[1]]", "{\"a\":1,}", "[,]",  "NaN",     "Infinity",  "'a'",         "\"\\ud800\\u\""}) {
    EXPECT_THROW(parse_python_json(bad, "test"), Error) << bad;
  }
  EXPECT_NO_THROW(parse_python_json("[NaN]", "test", true));
}

TEST(PythonJson, ErrorsNameThePlaceAndNotTheText) {
  try {
    parse_python_json("{\"secret\": oops}", "tools[3]");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kInvalidRequest);
    const std::string text = e.what();
    EXPECT_NE(text.find("tools[3]"), std::string::npos);
    EXPECT_NE(text.find("byte 11"), std::string::npos);
    EXPECT_EQ(text.find("secret"), std::string::npos);
    EXPECT_EQ(text.find("oops"), std::string::npos);
  }
}

TEST(PythonJson, BoundsTheNesting) {
  const std::string deep(200, '[');
  EXPECT_EQ(python_json_dumps(parse_python_json(deep + std::string(200, ']'), "test")),
            deep + std::string(200, ']'));
  EXPECT_THROW(parse_python_json(std::string(100'000, '['), "test"), Error);
}

TEST(PythonJson, LoneSurrogatesBecomeReplacements) {
  EXPECT_EQ(parse_python_json(R"("\ud800x\udc00\ud800\u0041")", "test").text,
            "\xEF\xBF\xBDx\xEF\xBF\xBD\xEF\xBF\xBD"
            "A");
}

TEST(PythonJson, RepeatedKeysKeepTheFirstPlaceAndTheLastValue) {
  std::string raw = "{";
  for (int i = 0; i < 300; ++i) {
    raw += fmt::format("\"k{}\":{},", i % 100, i);
  }
  raw.back() = '}';
  const PyJson value = parse_python_json(raw, "test");
  ASSERT_EQ(value.members.size(), 100u);
  for (size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(value.members[i].key, fmt::format("k{}", i));
    EXPECT_EQ(value.members[i].value.text, std::to_string(200 + i));
  }
}

}  // namespace
}  // namespace orfebre
