// Stand-ins for the backends that this build does not have: each throws Error(kUnsupported).
#pragma once

#include "backend/backend.h"

namespace orfebre {

std::unique_ptr<Backend> make_cuda_backend(ShapeId shape, const BackendOptions& options);
std::unique_ptr<Backend> make_metal_backend(ShapeId shape, const BackendOptions& options);

}  // namespace orfebre
