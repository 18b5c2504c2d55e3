// The only source that knows which backends exist.
#include "backend/backend.h"
#include "backend/cpu/cpu_backend.h"
#include "backend/none/none_backend.h"
#include "backend/reference/reference_backend.h"
#include "base/error.h"
#include "base/log.h"

#include <fmt/ranges.h>

namespace orfebre {

std::vector<std::string> available_backends() {
  std::vector<std::string> names;
  if (cpu_backend_runs_here()) {
    names.push_back("cpu");
  }
  names.push_back("reference");
  return names;
}

std::unique_ptr<Backend> make_backend(const std::string& name, ShapeId shape, const BackendOptions& options) {
  if (name == "auto") {
    const std::string best = available_backends().front();
    if (best == "reference") {
      log_warning("this processor has none of AVX2, AVX-512 VNNI or NEON: the slow reference path runs");
    }
    return make_backend(best, shape, options);
  }
  if (name == "cpu") {
    return make_cpu_backend(shape, options);
  }
  if (name == "reference") {
    return make_reference_backend(shape, options);
  }
  if (name == "cuda") {
    return make_cuda_backend(shape, options);
  }
  if (name == "metal") {
    return make_metal_backend(shape, options);
  }
  fail(ErrorKind::kUnsupported, "backend '{}' is unknown; this machine runs: auto, {}", name,
       fmt::join(available_backends(), ", "));
}

}  // namespace orfebre
