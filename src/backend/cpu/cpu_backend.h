// The CPU backend: 4- and 8-bit weights against 15-bit activations. AVX-512 VNNI or AVX2, on Arm NEON with
// i8mm, with dotprod or plain: the best is chosen at run time.
#pragma once

#include "backend/backend.h"

namespace orfebre {

// Whether this processor has one of the instruction sets.
bool cpu_backend_runs_here();

// Throws Error(kUnsupported) when it has not, or when `options.cpu_path` names one it lacks.
std::unique_ptr<Backend> make_cpu_backend(ShapeId shape, const BackendOptions& options);

}  // namespace orfebre
