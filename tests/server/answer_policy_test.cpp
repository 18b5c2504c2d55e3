// The form of an answer token by token: what may come while the model thinks, in the answer, and at its end.
#include "server/constraint/answer_policy.h"

#include "server/api/api_error.h"
#include "server/constraint/policy_chain.h"
#include "server/reply/reply_policy.h"
#include "server/scripted_model.h"
#include "text/reply_parser.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace orfebre {
namespace {

using testing::byte_tokenizer;
using testing::kByteVocab;
using testing::kEndOfTurn;

constexpr int32_t kEndOfThinking = 260, kCall = 261, kCallEnd = 262, kEndOfText = 258;

const text::Tokenizer& tokenizer() {
  static const text::Tokenizer made = byte_tokenizer();
  return made;
}

std::unique_ptr<TokenPolicy> policy_of(
    const api::AnswerRequest& answer, const std::vector<std::string>& tools, bool thinking,
    const std::shared_ptr<ReplyNotes>& notes = std::make_shared<ReplyNotes>()) {
  static MaskVocabulary vocabulary;
  const std::vector<int32_t> stops{kEndOfTurn, kEndOfText};
  return make_answer_policy(compile_answer_request(answer, tools, tokenizer(), thinking),
                            vocabulary.get(tokenizer()), tokenizer(), stops, thinking, notes);
}

api::AnswerRequest schema_answer(const std::string& schema) {
  api::AnswerRequest answer;
  answer.format = api::AnswerRequest::Format::kJsonSchema;
  answer.schema_json = schema;
  answer.schema_path = "place";
  return answer;
}

// As the engine asks: words for the head's padded vocabulary, poisoned behind what the policy may write.
std::vector<uint32_t> mask_of(TokenPolicy& policy) {
  EXPECT_TRUE(policy.wants_mask());
  std::vector<uint32_t> words(12, 0);
  policy.fill_mask(words);
  for (int32_t id = kByteVocab; id < 12 * 32; ++id) {
    EXPECT_EQ(words[static_cast<size_t>(id) / 32] >> (id % 32) & 1, 0U) << "padding " << id;
  }
  return words;
}

bool allows(TokenPolicy& policy, int32_t id) {
  return (mask_of(policy)[static_cast<size_t>(id) / 32] >> (id % 32) & 1) != 0;
}

bool tell(TokenPolicy& policy, std::string_view text) {
  bool stopped = false;
  for (const char c : text) {
    EXPECT_FALSE(stopped);
    stopped = policy.on_token(static_cast<unsigned char>(c)).kind == PolicyVerdict::Kind::kStop;
  }
  return stopped;
}

TEST(AnswerPolicy, ThinkingIsFreeButMustEnd) {
  const auto policy = policy_of(schema_answer(R"({"type":"boolean"})"), {}, true);
  for (int i = 0; i < 2; ++i) {
    for (int32_t id = 0; id < kByteVocab; ++id) {
      const bool expected = id != kEndOfTurn && id != kEndOfText && id != kCall && id != kCallEnd;
      EXPECT_EQ(allows(*policy, id), expected) << id;
    }
    EXPECT_FALSE(tell(*policy, "I <think> so: {\"a\" </thin"));
  }
  EXPECT_EQ(policy->on_token(kEndOfThinking).kind, PolicyVerdict::Kind::kContinue);
  EXPECT_FALSE(allows(*policy, kEndOfThinking));
  EXPECT_FALSE(allows(*policy, kEndOfTurn));
  EXPECT_FALSE(allows(*policy, 'x'));
  EXPECT_TRUE(allows(*policy, '\n'));
  EXPECT_FALSE(tell(*policy, "\n\n"));
  EXPECT_FALSE(allows(*policy, '\n'));
  EXPECT_TRUE(allows(*policy, 't'));
  EXPECT_TRUE(tell(*policy, "true"));
}

TEST(AnswerPolicy, TheEndOfThinkingMayBeSpelled) {
  const auto policy = policy_of(schema_answer(R"({"type":"boolean"})"), {}, true);
  EXPECT_FALSE(tell(*policy, "so</think>\nfals"));
  EXPECT_FALSE(allows(*policy, 'x'));
  EXPECT_TRUE(tell(*policy, "e"));
}

TEST(AnswerPolicy, TheTurnEndsWhereTheAnswerMay) {
  const auto policy = policy_of(schema_answer(R"({"type":"integer","minimum":0,"maximum":120})"), {}, false);
  EXPECT_FALSE(allows(*policy, kEndOfTurn));
  EXPECT_FALSE(tell(*policy, "1"));
  EXPECT_TRUE(allows(*policy, kEndOfTurn));
  EXPECT_TRUE(allows(*policy, kEndOfText));
  EXPECT_TRUE(allows(*policy, '2'));
  EXPECT_FALSE(tell(*policy, "2"));
  EXPECT_TRUE(allows(*policy, '0'));
  EXPECT_FALSE(allows(*policy, '1'));
  EXPECT_TRUE(tell(*policy, "0"));  // nothing may follow
}

TEST(AnswerPolicy, NotesAnAnswerThatLeavesItsForm) {
  for (const bool thinking : {false, true}) {
    for (const int32_t wrong : {int32_t{'x'}, kCall, kEndOfThinking}) {
      const auto notes = std::make_shared<ReplyNotes>();
      const auto policy = policy_of(schema_answer(R"({"type":"boolean"})"), {}, thinking, notes);
      EXPECT_FALSE(tell(*policy, thinking ? "so</think>tru" : "tru"));
      EXPECT_FALSE(notes->left_form);
      EXPECT_EQ(policy->on_token(wrong).kind, PolicyVerdict::Kind::kStop);
      EXPECT_TRUE(notes->left_form);
    }
  }
  const auto notes = std::make_shared<ReplyNotes>();
  EXPECT_TRUE(tell(*policy_of(schema_answer(R"({"type":"boolean"})"), {}, false, notes), "true"));
  EXPECT_FALSE(notes->left_form);
}

// Picks at random what the masks allow, and gives the reply as the server's parser reads it.
text::ParsedReply random_reply(TokenPolicy& policy, const std::vector<std::string>& tools,
                               std::mt19937& random, bool thinking, int& n_tokens) {
  std::string text;
  for (n_tokens = 0; n_tokens < 4000; ++n_tokens) {
    std::vector<int32_t> allowed;
    const std::vector<uint32_t> words = mask_of(policy);
    for (int32_t id = 0; id < kByteVocab; ++id) {
      if ((words[static_cast<size_t>(id) / 32] >> (id % 32) & 1) != 0) {
        allowed.push_back(id);
      }
    }
    if (allowed.empty()) {
      ADD_FAILURE() << "nothing is allowed behind " << text;
      break;
    }
    int32_t id = allowed[random() % allowed.size()];
    for (const int32_t likely : {int32_t{'"'}, int32_t{'\n'}, kEndOfTurn, kEndOfThinking, int32_t{'<'}}) {
      id = random() % 4 == 0 && std::count(allowed.begin(), allowed.end(), likely) > 0 ? likely : id;
    }
    if (id == kEndOfTurn || id == kEndOfText) {
      break;
    }
    text += tokenizer().token_bytes(id);
    if (policy.on_token(id).kind == PolicyVerdict::Kind::kStop) {
      break;
    }
  }
  return text::parse_reply(text, text::ToolSchemas(tools), {thinking, true});
}

TEST(AnswerPolicy, RequiredCallsAreReadBackAsTheToolsDemand) {
  const std::vector<std::string> tools{
      R"({"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"s":{"type":"string",
          "maxLength":9},"n":{"type":"integer","minimum":-3,"maximum":12},"e":{"enum":["a\n","</b>",7,null]},
          "l":{"type":"array","items":{"type":"boolean"},"maxItems":2}},"required":["s","n","e"]}}})",
      R"({"type":"function","function":{"name":"g"}})"};
  std::mt19937 random(5);
  int n_calls_of_f = 0, n_calls = 0, n_lists = 0;
  for (int round = 0; round < 150; ++round) {
    api::AnswerRequest answer;
    answer.call_required = true;
    answer.parallel_calls = round % 3 == 0;
    if (round % 4 == 0) {
      answer.callable = {"f"};
    }
    const bool thinking = round % 2 == 0;
    const auto policy = policy_of(answer, tools, thinking);
    int n_tokens = 0;
    const text::ParsedReply reply = random_reply(*policy, tools, random, thinking, n_tokens);
    ASSERT_LT(n_tokens, 4000);
    ASSERT_EQ(reply.content, "");
    ASSERT_GE(reply.tool_calls.size(), 1U);
    ASSERT_TRUE(answer.parallel_calls || reply.tool_calls.size() == 1);
    for (const text::ParsedToolCall& call : reply.tool_calls) {
      ++n_calls;
      ASSERT_TRUE(call.complete);
      const PyJson arguments = parse_python_json(call.arguments_json, "arguments");
      if (call.name == "g" && round % 4 != 0) {
        ASSERT_TRUE(arguments.members.empty());
        continue;
      }
      ++n_calls_of_f;
      ASSERT_EQ(call.name, "f");
      ASSERT_TRUE(arguments.find("s")->is_string());
      const int number = std::stoi(arguments.find("n")->text);
      ASSERT_TRUE(arguments.find("n")->kind == PyJson::Kind::kInteger && number >= -3 && number <= 12);
      const PyJson& e = *arguments.find("e");
      ASSERT_TRUE(e.text == "a\n" || e.text == "</b>" || e.text == "7" || e.kind == PyJson::Kind::kNull);
      if (const PyJson* list = arguments.find("l")) {
        ++n_lists;
        ASSERT_TRUE(list->kind == PyJson::Kind::kArray && list->items.size() <= 2);
      }
    }
  }
  EXPECT_GT(n_calls, 160);
  EXPECT_GT(n_calls_of_f, 60);
  EXPECT_GT(n_lists, 20);
}

TEST(AnswerPolicy, DependsOnTheTokensAlone) {
  const api::AnswerRequest answer =
      schema_answer(R"({"type":"object","additionalProperties":{"type":"string"}})");
  const auto policy = policy_of(answer, {}, false);
  const std::string text = R"({"key": "a value", "k2": "\u00e9"})";
  for (size_t n = 0; n < text.size(); ++n) {
    const auto other = policy_of(answer, {}, false);
    EXPECT_FALSE(tell(*other, text.substr(0, n)));
    EXPECT_EQ(mask_of(*other), mask_of(*policy)) << n;
    policy->on_token(static_cast<unsigned char>(text[n]));
  }
}

TEST(AnswerPolicy, RefusesNamesThatAreNoTools) {
  api::AnswerRequest answer;
  answer.call_required = true;
  const std::vector<std::string> tools{R"({"type":"function","function":{"name":"f"}})"};
  EXPECT_THROW(policy_of(answer, {}, false), api::ApiError);
  answer.callable = {"f", "h"};
  EXPECT_THROW(policy_of(answer, tools, false), api::ApiError);
  answer.callable = {"f"};
  EXPECT_NE(policy_of(answer, tools, false), nullptr);
  EXPECT_EQ(policy_of({}, tools, false), nullptr);
}

class FixedPolicy final : public TokenPolicy {
 public:
  FixedPolicy(PolicyVerdict verdict, std::optional<uint32_t> word)
      : verdict_(std::move(verdict)), word_(word) {}
  PolicyVerdict on_token(int32_t) override {
    ++n_told;
    return verdict_;
  }
  bool wants_mask() const override { return word_.has_value(); }
  void fill_mask(std::span<uint32_t> words) override { words[0] = *word_; }
  int n_told = 0;

 private:
  PolicyVerdict verdict_;
  std::optional<uint32_t> word_;
};

TEST(PolicyChain, JoinsVerdictsAndMasks) {
  using Kind = PolicyVerdict::Kind;
  const auto make = [](PolicyVerdict verdict, std::optional<uint32_t> word) {
    return std::make_unique<FixedPolicy>(std::move(verdict), word);
  };
  std::vector<std::unique_ptr<TokenPolicy>> none;
  none.push_back(nullptr);
  EXPECT_EQ(chain_policies(std::move(none)), nullptr);

  std::vector<std::unique_ptr<TokenPolicy>> policies;
  policies.push_back(make({Kind::kForce, {1}}, 0b1110));
  policies.push_back(make({Kind::kForce, {2}}, std::nullopt));
  policies.push_back(make({}, 0b0111));
  auto* const last = static_cast<FixedPolicy*>(policies.back().get());
  auto chain = chain_policies(std::move(policies));
  EXPECT_EQ(chain->on_token(0).forced, std::vector<int32_t>{1});
  EXPECT_EQ(last->n_told, 1);
  std::vector<uint32_t> words(1, 0);
  ASSERT_TRUE(chain->wants_mask());
  chain->fill_mask(words);
  EXPECT_EQ(words[0], 0b0110U);

  std::vector<std::unique_ptr<TokenPolicy>> stopping;
  stopping.push_back(make({Kind::kForce, {1}}, std::nullopt));
  stopping.push_back(make({Kind::kStop, {}}, std::nullopt));
  auto stop = chain_policies(std::move(stopping));
  EXPECT_EQ(stop->on_token(0).kind, Kind::kStop);
  EXPECT_FALSE(stop->wants_mask());
}

}  // namespace
}  // namespace orfebre
