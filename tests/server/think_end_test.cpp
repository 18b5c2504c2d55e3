// The end of the thinking, as a token and spelled: found in any pieces, and nothing is forced behind it.
#include "server/reply/think_end.h"

#include "server/constraint/answer_policy.h"
#include "server/constraint/policy_chain.h"
#include "server/reply/thinking_policy.h"
#include "server/scripted_model.h"

#include <gtest/gtest.h>

#include <random>

namespace orfebre {
namespace {

using testing::byte_tokenizer;
using testing::kEndOfTurn;
using Kind = PolicyVerdict::Kind;

constexpr int kBudget = 40;

const text::Tokenizer& tokenizer() {
  static const text::Tokenizer made = byte_tokenizer();
  return made;
}

// Byte by byte, so that "</think>" is spelled.
std::vector<int32_t> spelled(std::string_view text) {
  std::vector<int32_t> ids;
  for (const char c : text) {
    ids.push_back(static_cast<unsigned char>(c));
  }
  return ids;
}

TEST(ThinkEnd, IsFoundInAnyPieces) {
  std::mt19937 random(3);
  for (const std::string thoughts : {"", "so", "<<</thin</th", "a </think b> \xC3\xA9"}) {
    const std::string text = thoughts + "</think> an answer</think> more";
    for (int round = 0; round < 60; ++round) {
      ThinkEnd end(true);
      std::string behind;
      for (std::string_view rest = text; !rest.empty();) {
        const size_t size = round == 0 ? 1 : 1 + random() % rest.size();
        behind += end.push(rest.substr(0, size));
        rest.remove_prefix(size);
        ASSERT_EQ(end.is_over(), text.size() - rest.size() >= thoughts.size() + 8);
      }
      ASSERT_EQ(behind, " an answer</think> more");
    }
  }
}

TEST(ThinkEnd, TakesTokensAsTheyAreWritten) {
  ThinkEnd token(true);
  EXPECT_EQ(token.push(tokenizer(), *tokenizer().id_of("</think>")), "");
  EXPECT_TRUE(token.is_over());
  ThinkEnd hidden(true);  // a special token is not seen in the text
  for (const char* part : {"</th", "<|im_start|>", "ink>"}) {
    EXPECT_FALSE(hidden.is_over());
    for (const int32_t id : tokenizer().encode(part)) {
      hidden.push(tokenizer(), id);
    }
  }
  EXPECT_TRUE(hidden.is_over());
  ThinkEnd never_began(false);
  EXPECT_TRUE(never_began.is_over());
  EXPECT_EQ(never_began.push("x"), "x");
}

std::unique_ptr<TokenPolicy> budget_policy(const std::shared_ptr<ReplyNotes>& notes) {
  return make_thinking_policy(tokenizer(), {{}, true, {kBudget}, false, false}, notes);
}

int n_forced(TokenPolicy& policy, std::string_view text) {
  int n = 0;
  for (const int32_t id : spelled(text)) {
    n += policy.on_token(id).kind == Kind::kForce ? 1 : 0;
  }
  return n;
}

TEST(ThinkingPolicy, ForcesNothingBehindASpelledEnd) {
  const std::string thoughts(kBudget - 9, 'x');
  for (const std::string& before : {std::string(), thoughts, thoughts + "y"}) {
    const auto notes = std::make_shared<ReplyNotes>();
    EXPECT_EQ(n_forced(*budget_policy(notes), before + "</think>\n\n" + std::string(3 * kBudget, 'a')), 0);
    EXPECT_EQ(notes->thinking_cut.load(), Interference::kNone);
  }
  const auto notes = std::make_shared<ReplyNotes>();
  EXPECT_EQ(n_forced(*budget_policy(notes), thoughts + "yz</think>\n\nabc"), 1);  // a token too late
  EXPECT_EQ(notes->thinking_cut.load(), Interference::kBudget);
}

TEST(ThinkingPolicy, ForcesNothingIntoAnAnswerWithAForm) {
  api::AnswerRequest answer;
  answer.format = api::AnswerRequest::Format::kJsonSchema;
  answer.schema_json = R"({"type":"string"})";
  answer.schema_path = "place";
  MaskVocabulary vocabulary;
  const std::vector<int32_t> stops{kEndOfTurn};
  std::vector<std::unique_ptr<TokenPolicy>> parts;
  const auto notes = std::make_shared<ReplyNotes>();
  parts.push_back(budget_policy(notes));
  parts.push_back(make_answer_policy(compile_answer_request(answer, {}, tokenizer(), true),
                                     vocabulary.get(tokenizer()), tokenizer(), stops, true, notes));
  const auto policy = chain_policies(std::move(parts));
  const std::vector<int32_t> ids = spelled("so</think>\n\n\"" + std::string(3 * kBudget, 'a') + "\"");
  for (size_t i = 0; i < ids.size(); ++i) {
    ASSERT_EQ(policy->on_token(ids[i]).kind, i + 1 < ids.size() ? Kind::kContinue : Kind::kStop) << i;
  }
  EXPECT_FALSE(notes->left_form);
}

}  // namespace
}  // namespace orfebre
