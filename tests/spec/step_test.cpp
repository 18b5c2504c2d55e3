// validate_step: a good step passes; the same step with one field bent does not.
#include "spec/step.h"

#include "base/error.h"

#include <gtest/gtest.h>

#include <functional>

namespace orfebre {
namespace {

constexpr ShapeInfo kShape = describe<Demo>();
constexpr StepLimits kLimits{
    .max_context = 1000, .max_prefill_rows = 256, .n_kv_blocks = 20, .n_state_slots = 6};

// Two sequences: three rows from position 62 (so two blocks) and one row at position 5.
Step decode_step() {
  Step step;
  step.kind = StepKind::kDecode;
  step.rows = {{10, 62, 0}, {11, 63, 0}, {12, 64, 0}, {kTokenFromPick, 5, 1}};
  step.sequences = {{.first_row = 0,
                     .n_rows = 3,
                     .block_table = 0,
                     .state_in = 0,
                     .state_out = 1,
                     .accepted_rows = 3,
                     .lane = 0},
                    {.first_row = 3,
                     .n_rows = 1,
                     .block_table = 2,
                     .state_in = kNoState,
                     .state_out = 3,
                     .accepted_rows = 1,
                     .lane = 7}};
  step.block_tables = {4, 19, 0};
  step.logit_rows = {2, 3};
  return step;
}

TEST(ValidateStep, AcceptsAGoodStep) {
  EXPECT_NO_THROW(validate_step(decode_step(), kShape, kLimits));
}

TEST(ValidateStep, AcceptsAPrefillOfOneSequence) {
  Step step;
  step.kind = StepKind::kPrefill;
  for (int i = 0; i < 200; ++i) {
    step.rows.push_back({i, i, 0});
  }
  step.sequences = {{.first_row = 0,
                     .n_rows = 200,
                     .block_table = 0,
                     .state_in = kNoState,
                     .state_out = 0,
                     .accepted_rows = 200,
                     .lane = 0}};
  step.block_tables = {0, 1, 2, 3};
  EXPECT_NO_THROW(validate_step(step, kShape, kLimits));
  step.block_tables.pop_back();
  EXPECT_THROW(validate_step(step, kShape, kLimits), Error);
}

struct Bend {
  const char* what;
  std::function<void(Step&)> apply;
};

class BentStep : public testing::TestWithParam<Bend> {};

TEST_P(BentStep, IsRefused) {
  Step step = decode_step();
  GetParam().apply(step);
  EXPECT_THROW(validate_step(step, kShape, kLimits), Error) << GetParam().what;
}

INSTANTIATE_TEST_SUITE_P(
    EveryField, BentStep,
    testing::Values(Bend{"token beyond the vocabulary", [](Step& s) { s.rows[0].token = kShape.vocab; }},
                    Bend{"token below -1", [](Step& s) { s.rows[0].token = -2; }},
                    Bend{"position not consecutive", [](Step& s) { s.rows[1].position = 70; }},
                    Bend{"position negative", [](Step& s) { s.rows[3].position = -1; }},
                    Bend{"position beyond the context", [](Step& s) { s.rows[3].position = 1000; }},
                    Bend{"row of another sequence", [](Step& s) { s.rows[3].sequence = 0; }},
                    Bend{"rows beyond the step", [](Step& s) { s.sequences[1].n_rows = 2; }},
                    Bend{"no rows", [](Step& s) { s.sequences[1].n_rows = 0; }},
                    Bend{"first row negative", [](Step& s) { s.sequences[0].first_row = -1; }},
                    Bend{"table outside", [](Step& s) { s.sequences[1].block_table = 3; }},
                    Bend{"table negative", [](Step& s) { s.sequences[1].block_table = -1; }},
                    Bend{"block beyond the pool", [](Step& s) { s.block_tables[1] = 20; }},
                    Bend{"block negative", [](Step& s) { s.block_tables[0] = -1; }},
                    Bend{"state_in beyond the slots", [](Step& s) { s.sequences[0].state_in = 6; }},
                    Bend{"state_out beyond the slots", [](Step& s) { s.sequences[0].state_out = 6; }},
                    Bend{"state_out missing", [](Step& s) { s.sequences[0].state_out = kNoState; }},
                    Bend{"state_out is its own state_in", [](Step& s) { s.sequences[0].state_out = 0; }},
                    Bend{"state_out is another's state_in", [](Step& s) { s.sequences[1].state_out = 0; }},
                    Bend{"two write one slot", [](Step& s) { s.sequences[1].state_out = 1; }},
                    Bend{"accepted rows beyond", [](Step& s) { s.sequences[0].accepted_rows = 4; }},
                    Bend{"lane beyond", [](Step& s) { s.sequences[0].lane = kMaxLanes; }},
                    Bend{"logit row beyond", [](Step& s) { s.logit_rows[1] = 4; }},
                    Bend{"logit rows not ascending",
                         [](Step& s) {
                           s.logit_rows = {3, 2};
                         }},
                    Bend{"no sequences", [](Step& s) { s.sequences.clear(); }},
                    Bend{"a row that nobody lists", [](Step& s) { s.sequences.pop_back(); }},
                    Bend{"prefill of two sequences", [](Step& s) { s.kind = StepKind::kPrefill; }},
                    Bend{"too many decode rows",
                         [](Step& s) {
                           for (int i = 0; i < 6; ++i) {
                             s.rows.push_back({1, 6 + i, 1});
                             s.sequences[1].n_rows += 1;
                             s.sequences[1].accepted_rows += 1;
                           }
                         }}),
    [](const auto& bend) {
      std::string name = bend.param.what;
      for (char& c : name) {
        c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
      }
      return name;
    });

}  // namespace
}  // namespace orfebre
