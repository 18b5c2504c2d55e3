// RandomWeights as a checkpoint directory on disk, so that a real loader can be tested from file to logits.
// Twins of tools/fixtures/write_checkpoint.py, independent of src/checkpoint.
#pragma once

#include "spec/shape.h"

#include <string>

namespace orfebre::test {

// The public MLX 4-bit layout: config.json with 8-bit overrides for routers and shared gates,
// model.safetensors with .weight U32, .scales and .biases BF16, norms as 1 + w, conv1d [channels, 4, 1].
// Holds exactly RandomWeights(shape).
void write_mlx_checkpoint(const std::string& directory, ShapeId shape);

// The bf16 Hugging Face layout: zero-centred norms, conv1d [channels, 1, 4], fused experts. Its matrices are
// bf16(RandomWeights * (0.9 + 0.2 * unit)), its norms are rounded to 1/128: tests/data/model/demo_hf.fixture.
void write_hf_checkpoint(const std::string& directory, ShapeId shape);

}  // namespace orfebre::test
