#include "engine/step_builder.h"

#include "engine/kv_pool.h"

namespace orfebre {
namespace {

void append_sequence(Step& step, const Sequence& sequence, int n_rows) {
  StepSequence entry{};
  entry.first_row = static_cast<int32_t>(step.rows.size());
  entry.n_rows = n_rows;
  entry.block_table = static_cast<int32_t>(step.block_tables.size());
  entry.state_in = sequence.state_in;
  entry.state_out = sequence.state_out;
  entry.accepted_rows = n_rows;
  entry.lane = sequence.lane;
  step.sequences.push_back(entry);
  step.block_tables.insert(step.block_tables.end(), sequence.blocks.begin(),
                           sequence.blocks.begin() + blocks_for(sequence.n_processed + n_rows));
}

}  // namespace

Step prefill_step(const Sequence& sequence, int end) {
  Step step;
  step.kind = StepKind::kPrefill;
  append_sequence(step, sequence, end - sequence.n_processed);
  for (int position = sequence.n_processed; position < end; ++position) {
    step.rows.push_back({sequence.tokens[static_cast<size_t>(position)], position, 0});
  }
  if (end == sequence.n_prompt) {
    step.logit_rows.push_back(static_cast<int32_t>(step.rows.size()) - 1);
  }
  return step;
}

Step decode_step(std::span<Sequence* const> sequences) {
  Step step;
  for (const Sequence* sequence : sequences) {
    const auto row = static_cast<int32_t>(step.rows.size());
    append_sequence(step, *sequence, 1);
    step.rows.push_back({kTokenFromPick, sequence->n_processed, row});
    step.logit_rows.push_back(row);
  }
  return step;
}

PickBatch pick_batch(std::span<Sequence* const> sequences, int n_vocab, int vocab) {
  const auto mask_words = static_cast<size_t>((vocab + 31) / 32);
  PickBatch batch;
  for (size_t i = 0; i < sequences.size(); ++i) {
    Sequence* const sequence = sequences[i];
    if (sequence->ended) {
      continue;
    }
    const SamplingParams& wanted = sequence->request.sampling;
    PickRow row{};
    row.seed = wanted.seed;
    row.logit_row = static_cast<int32_t>(i);
    row.lane = sequence->lane;
    row.position = sequence->n_processed;
    row.forced_token = sequence->next_forced();
    row.n_vocab = n_vocab;
    row.top_k = wanted.top_k;
    row.temperature = wanted.temperature;
    row.top_p = wanted.top_p;
    row.min_p = wanted.min_p;
    row.repetition_penalty = wanted.repetition_penalty;
    row.presence_penalty = wanted.presence_penalty;
    row.frequency_penalty = wanted.frequency_penalty;
    row.bias_offset = static_cast<int32_t>(batch.bias_ids.size());
    row.n_bias = static_cast<int32_t>(wanted.logit_bias.size());
    for (const auto& [id, value] : wanted.logit_bias) {
      batch.bias_ids.push_back(id);
      batch.bias_values.push_back(value);
    }
    row.mask = -1;
    if (sequence->wants_mask()) {
      row.mask = static_cast<int32_t>(batch.masks.size() / mask_words);
      batch.masks.resize(batch.masks.size() + mask_words, 0);
      sequence->request.policy->fill_mask(std::span(batch.masks).last(mask_words));
    }
    batch.rows.push_back(row);
  }
  return batch;
}

}  // namespace orfebre
