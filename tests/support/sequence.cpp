#include "support/sequence.h"

#include "support/random_weights.h"

namespace orfebre::test {
namespace {

constexpr int kPlaces = 4;
constexpr int kBlocksPerSequence = 8;  // 512 positions

// A sequence's b-th block: places interleave, and blocks run backwards, so that nothing lies where a
// contiguous cache would have it.
int32_t block_of(int place, int b) {
  return static_cast<int32_t>((kBlocksPerSequence - 1 - b) * kPlaces + place);
}

}  // namespace

StepLimits small_limits() {
  StepLimits limits;
  limits.max_context = kBlocksPerSequence * kBlockTokens;
  limits.max_prefill_rows = 256;
  limits.n_kv_blocks = kPlaces * kBlocksPerSequence;
  limits.n_state_slots = 2 * kPlaces;
  return limits;
}

std::unique_ptr<Model> make_random_model(std::unique_ptr<Backend> backend) {
  RandomWeights weights(backend->shape().id);
  return std::make_unique<Model>(std::move(backend), weights, small_limits(), LoadOptions{});
}

Sequence::Sequence(Model& model, int place) : model_(model), place_(place), state_out_(2 * place) {}

void Sequence::append_to(Step& step, std::span<const int32_t> tokens) {
  const auto first_row = static_cast<int32_t>(step.rows.size());
  const auto index = static_cast<int32_t>(step.sequences.size());
  const auto n_rows = static_cast<int32_t>(tokens.size());
  for (const int32_t token : tokens) {
    step.rows.push_back({token, position_++, index});
  }
  step.sequences.push_back({first_row, n_rows, static_cast<int32_t>(step.block_tables.size()), state_in_,
                            state_out_, n_rows, place_});
  for (int b = 0; b < kBlocksPerSequence; ++b) {
    step.block_tables.push_back(block_of(place_, b));
  }
  state_in_ = state_out_;
  state_out_ = 4 * place_ + 1 - state_out_;  // the other of the place's two slots
}

std::vector<float> Sequence::feed(std::span<const int32_t> tokens, std::span<const int32_t> logit_rows,
                                  StepKind kind) {
  Step step;
  step.kind = kind;
  append_to(step, tokens);
  step.logit_rows.assign(logit_rows.begin(), logit_rows.end());
  model_.forward(step, nullptr);
  return model_.read_logits();
}

}  // namespace orfebre::test
