// The reference backend: scalar f32, one thread, one readable file an op. It is the specification and the
// oracle of every other backend.
#pragma once

#include "backend/backend.h"

namespace orfebre {

std::unique_ptr<Backend> make_reference_backend(ShapeId shape, const BackendOptions& options);

}  // namespace orfebre
