// What the step contract promises, on the reference backend: chunk borders, batch mates, refused drafts,
// tokens from pick and broken numbers change nothing that they should not. Equality is of bits. And the
// memory plan against the memory.
#include "backend/reference/reference_backend.h"
#include "support/observing_backend.h"
#include "support/random_weights.h"
#include "support/sequence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

namespace orfebre::test {
namespace {

std::vector<int32_t> random_tokens(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  for (int32_t& token : tokens) {
    token = static_cast<int32_t>(random() % static_cast<unsigned>(Demo::kVocab));
  }
  return tokens;
}

std::unique_ptr<Model> make_model() {
  return make_random_model(make_reference_backend(ShapeId::kDemo, {}));
}

std::vector<float> last_logits(Sequence& sequence, std::span<const int32_t> tokens,
                               StepKind kind = StepKind::kPrefill) {
  const std::vector<int32_t> last = {static_cast<int32_t>(tokens.size()) - 1};
  return sequence.feed(tokens, last, kind);
}

TEST(Steps, ChunksAndSingleTokensGiveTheBitsOfOnePrefill) {
  const auto model = make_model();
  const std::vector<int32_t> tokens = random_tokens(70, 1);
  Sequence whole(*model, 0);
  const std::vector<float> expected = last_logits(whole, tokens);

  Sequence chunked(*model, 1);
  size_t done = 0;
  for (const size_t chunk : {1u, 2u, 3u, 57u, 2u}) {  // 65; crosses the block border inside a chunk
    chunked.feed(std::span(tokens).subspan(done, chunk), {});
    done += chunk;
  }
  chunked.feed(std::span(tokens).subspan(done, 4), {}, StepKind::kDecode);
  EXPECT_EQ(last_logits(chunked, std::span(tokens).last(1), StepKind::kDecode), expected);
}

TEST(Steps, BatchMatesChangeNothing) {
  const auto model = make_model();
  std::vector<std::vector<int32_t>> prompts = {random_tokens(9, 2), random_tokens(66, 3),
                                               random_tokens(1, 4)};
  const std::vector<std::vector<int32_t>> next = {random_tokens(1, 5), random_tokens(3, 6),
                                                  random_tokens(2, 7)};
  std::vector<float> expected;
  for (size_t i = 0; i < prompts.size(); ++i) {
    Sequence alone(*model, 3);
    alone.feed(prompts[i], {});
    const std::vector<float> logits = last_logits(alone, next[i], StepKind::kDecode);
    expected.insert(expected.end(), logits.begin(), logits.end());
  }

  Step together;
  for (size_t i = 0; i < prompts.size(); ++i) {
    Sequence sequence(*model, static_cast<int>(i));
    sequence.feed(prompts[i], {});
    sequence.append_to(together, next[i]);
    together.logit_rows.push_back(static_cast<int32_t>(together.rows.size()) - 1);
  }
  model->forward(together, nullptr);
  EXPECT_EQ(model->read_logits(), expected);
}

TEST(Steps, RefusedDraftsLeaveNoTrace) {
  const auto model = make_model();
  const std::vector<int32_t> prompt = random_tokens(20, 8);
  const std::vector<int32_t> accepted = random_tokens(2, 9);
  const std::vector<int32_t> after = random_tokens(1, 10);
  Sequence plain(*model, 0);
  plain.feed(prompt, {});
  plain.feed(accepted, {}, StepKind::kDecode);
  const std::vector<float> expected = last_logits(plain, after, StepKind::kDecode);

  Sequence drafted(*model, 1);
  drafted.feed(prompt, {});
  std::vector<int32_t> with_drafts = accepted;
  with_drafts.insert(with_drafts.end(), {11, 12, 13});  // written to the cache, then overwritten
  Step step;
  drafted.append_to(step, with_drafts);
  step.sequences[0].accepted_rows = 2;
  model->forward(step, nullptr);
  Step next;
  drafted.append_to(next, after);
  next.rows[0].position -= 3;
  next.logit_rows = {0};
  model->forward(next, nullptr);
  EXPECT_EQ(model->read_logits(), expected);
}

TEST(Steps, StateInIsOnlyRead) {
  const auto model = make_model();
  const std::vector<int32_t> prompt = random_tokens(20, 11);
  const std::vector<int32_t> next = random_tokens(1, 12);
  Sequence sequence(*model, 0);
  sequence.feed(prompt, {});
  Step step;
  sequence.append_to(step, next);
  step.logit_rows = {0};
  model->forward(step, nullptr);
  const std::vector<float> first = model->read_logits();
  model->forward(step, nullptr);  // the same step again, from the same state
  EXPECT_EQ(model->read_logits(), first);

  model->copy_state(6, step.sequences[0].state_in);
  step.sequences[0].state_in = 6;
  model->forward(step, nullptr);
  EXPECT_EQ(model->read_logits(), first) << "a copied state is the state";
}

TEST(Steps, TokenFromPickIsThePickedToken) {
  const auto model = make_model();
  const std::vector<int32_t> prompt = random_tokens(5, 13);
  Sequence sequence(*model, 2);
  last_logits(sequence, prompt);
  model->reset_lane(sequence.lane(), prompt);
  PickRow row{};
  row.lane = sequence.lane();
  row.forced_token = -1;
  row.n_vocab = Demo::kVocab;
  row.repetition_penalty = 1.0f;
  row.top_p = 1.0f;
  row.mask = -1;
  model->pick({{row}, {}, {}, {}});
  const int32_t picked = model->wait()[0].token;

  Step step;
  const std::vector<int32_t> from_pick = {kTokenFromPick};
  sequence.append_to(step, from_pick);
  step.logit_rows = {0};
  model->forward(step, nullptr);
  const std::vector<float> found = model->read_logits();
  step.rows[0].token = picked;
  model->forward(step, nullptr);
  EXPECT_EQ(found, model->read_logits());
}

// Seeded weights with one NaN in a layer's norm: everything after it is NaN.
class NanWeights final : public WeightSource {
 public:
  const ShapeInfo& shape() const override { return weights_.shape(); }
  int matrix_bits(const MatrixSpec& spec) const override { return weights_.matrix_bits(spec); }
  AffineTensor read_rows(std::vector<std::byte>& memory, const MatrixSpec& spec, int first_row,
                         int n_rows) override {
    return weights_.read_rows(memory, spec, first_row, n_rows);
  }
  std::vector<float> read_vector(const VectorSpec& spec) override {
    std::vector<float> values = weights_.read_vector(spec);
    if (spec.role == VectorRole::kInputNorm && spec.layer == 1) {
      values[7] = NAN;
    }
    return values;
  }
  void release_rows(const MatrixSpec& spec, int first_row, int n_rows) override {
    weights_.release_rows(spec, first_row, n_rows);
  }
  uint64_t total_bytes() const override { return weights_.total_bytes(); }

 private:
  RandomWeights weights_{ShapeId::kDemo};
};

TEST(Steps, NanFailsItsRequestAndAddressesNoMemory) {
  NanWeights weights;
  Model model(make_reference_backend(ShapeId::kDemo, {}), weights, small_limits(), LoadOptions{});
  const std::vector<int32_t> tokens = random_tokens(66, 14);
  Sequence sequence(model);
  const std::vector<float> logits = last_logits(sequence, tokens);
  EXPECT_TRUE(std::isnan(logits[0]));
  PickRow row{};
  row.forced_token = -1;
  row.n_vocab = Demo::kVocab;
  row.repetition_penalty = 1.0f;
  row.top_p = 1.0f;
  row.mask = -1;
  model.pick({{row}, {}, {}, {}});
  EXPECT_EQ(model.wait()[0].status, kPickNotFinite);
}

TEST(Steps, CancelStopsBetweenLayers) {
  std::atomic<bool> cancel{false};
  int n_layers = 0;
  const auto cancel_in_the_second_layer = [&](std::string_view op, std::span<const float>) {
    n_layers += op == "experts_down" ? 1 : 0;
    cancel = n_layers >= 1;
  };
  const auto model = make_random_model(std::make_unique<ObservingBackend>(
      make_reference_backend(ShapeId::kDemo, {}), cancel_in_the_second_layer));
  const std::vector<int32_t> tokens = random_tokens(4, 15);
  Step step;
  step.kind = StepKind::kPrefill;
  Sequence(*model).append_to(step, tokens);
  EXPECT_FALSE(model->forward(step, &cancel));
  EXPECT_EQ(n_layers, 1);
  cancel = true;
  EXPECT_FALSE(model->forward(step, &cancel));
  EXPECT_EQ(n_layers, 1) << "not even one layer when it came before the step";
}

// The plan is made from the shape alone, so it must follow what the model allocates.
TEST(MemoryPlan, CountsWhatTheModelAllocates) {
  RandomWeights weights(ShapeId::kDemo);
  for (const int max_prefill_rows : {1, 64, 300}) {
    StepLimits limits = small_limits();
    limits.max_prefill_rows = max_prefill_rows;
    auto backend = std::make_unique<ObservingBackend>(make_reference_backend(ShapeId::kDemo, {}),
                                                      [](std::string_view, std::span<const float>) {});
    const uint64_t& allocated_bytes = backend->allocated_bytes();
    const MemoryPlan plan = plan_memory(*backend, weights, limits);
    const Model model(std::move(backend), weights, limits, LoadOptions{});
    const uint64_t planned_bytes = plan.kv_bytes + plan.state_bytes + plan.activation_bytes;
    EXPECT_GE(allocated_bytes, planned_bytes) << max_prefill_rows << " rows";
    // The pick's arguments and results are not planned: some kilobytes.
    EXPECT_LT(allocated_bytes, planned_bytes + (64u << 10)) << max_prefill_rows << " rows";
  }
}

}  // namespace
}  // namespace orfebre::test
