// The forward pass, once, over the block ops of a backend. Reads like docs/model.md.
#pragma once

#include "model/model.h"

namespace orfebre {

// Enqueues all ops of the backend's current step. Between layers `cancel` (may be null) is read: when set,
// returns false and enqueues nothing more.
bool encode_forward(Backend& backend, const Weights& weights, const ModelState& state, Activations& x,
                    const StepHeader* step, const std::atomic<bool>* cancel);

}  // namespace orfebre
