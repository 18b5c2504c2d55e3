// Writes down what the scheduler decided as the model wants it: steps and pick batches.
#pragma once

#include "engine/sequence.h"
#include "model/executor.h"

#include <span>

namespace orfebre {

// Rows [n_processed, end) of the prompt. The last row of the prompt asks for logits.
Step prefill_step(const Sequence& sequence, int end);

// One row of each sequence: the token that was picked last, which the model finds in its lane.
Step decode_step(std::span<Sequence* const> sequences);

// The pick that follows a step in which row i of the logits belongs to sequences[i], already advanced; those
// that have ended meanwhile get none. Asks the policies for their masks. `n_vocab`: ids that may be chosen;
// `vocab`: width of a logit row.
PickBatch pick_batch(std::span<Sequence* const> sequences, int n_vocab, int vocab);

}  // namespace orfebre
