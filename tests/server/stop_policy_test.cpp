// Stop strings: found in any pieces, in the answer only, with the token that completes them.
#include "server/reply/stop_policy.h"

#include "server/scripted_model.h"

#include <gtest/gtest.h>

#include <random>

namespace orfebre {
namespace {

struct Case {
  const char* text;
  std::vector<std::string> stops;
  bool starts_in_think;
  const char* kept;
  bool stopped;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"one two three", {" two"}, false, "one", true},
      {"one two three", {"four"}, false, "one two three", false},
      {"aab", {"ab"}, false, "a", true},
      {"ends with EN", {"END"}, false, "ends with EN", false},
      {"a\n\nb", {"\n\n"}, false, "a", true},
      {"plan\n\nmore</think>\n\nanswer\n\nrest", {"\n\n"}, true, "plan\n\nmore</think>\n\nanswer", true},
      {"STOP </thin STOP", {"STOP"}, true, "STOP </thin STOP", false},
      {"x</think>STOP", {"STOP"}, true, "x</think>", true},
      {"x</think> \n STOP", {"STOP"}, true, "x</think> \n ", true},
      {"<<</think>a</think>STOP", {"</think>"}, true, "<<</think>a", true},
      {"caf\xC3\xA9!", {"\xC3\xA9"}, false, "caf", true},
  };
  return all;
}

TEST(StopScanner, FindsStopsInAnyPieces) {
  std::mt19937 random(7);
  for (const Case& c : cases()) {
    for (int round = 0; round < 50; ++round) {
      StopScanner scanner(c.stops, c.starts_in_think);
      std::string kept;
      std::string_view rest = c.text;
      while (!rest.empty()) {
        const size_t size = round == 0 ? 1 : 1 + random() % rest.size();
        kept += scanner.push(rest.substr(0, size)).text;
        rest.remove_prefix(size);
      }
      kept += scanner.flush();
      ASSERT_EQ(kept, c.kept) << c.text;
      ASSERT_EQ(scanner.stopped(), c.stopped) << c.text;
    }
  }
}

TEST(StopPolicy, StopsWithTheCompletingToken) {
  const text::Tokenizer tokenizer = testing::byte_tokenizer();
  for (const Case& c : cases()) {
    const auto policy = make_stop_policy(tokenizer, c.stops, c.starts_in_think);
    std::string seen;
    bool stopped = false;
    for (const int32_t id : tokenizer.encode(c.text)) {
      if (stopped) {
        break;
      }
      seen += tokenizer.token_bytes(id);
      stopped = policy->on_token(id).kind == PolicyVerdict::Kind::kStop;
    }
    EXPECT_EQ(stopped, c.stopped) << c.text;
    if (stopped) {
      EXPECT_EQ(seen, c.kept + c.stops[0]) << c.text;
    }
  }
}

TEST(StopPolicy, IsNotThereWithoutStops) {
  const text::Tokenizer tokenizer = testing::byte_tokenizer();
  EXPECT_EQ(make_stop_policy(tokenizer, {}, false), nullptr);
  EXPECT_EQ(make_stop_policy(tokenizer, std::vector<std::string>{""}, false), nullptr);
}

}  // namespace
}  // namespace orfebre
