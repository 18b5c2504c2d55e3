#include "backend/none/none_backend.h"

#include "base/error.h"

namespace orfebre {

std::unique_ptr<Backend> make_cuda_backend(ShapeId, const BackendOptions&) {
  fail(ErrorKind::kUnsupported, "backend 'cuda' is not part of this build; use --backend cpu");
}

std::unique_ptr<Backend> make_metal_backend(ShapeId, const BackendOptions&) {
  fail(ErrorKind::kUnsupported, "backend 'metal' is not part of this build; use --backend cpu");
}

}  // namespace orfebre
