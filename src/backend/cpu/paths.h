// The instruction sets that this build has kernels for, and which of them this processor runs.
#pragma once

#include "backend/cpu/kernels.h"

#include <span>
#include <string>

namespace orfebre::cpu {

struct Path {
  const char* name;   // as --cpu-path says it
  const char* needs;  // for errors
  bool (*runs_here)();
  const Kernels& (*kernels)();
};

// Best first; empty for processors that no kernels were written for.
std::span<const Path> paths();

// The first that runs here, or null.
const Path* best_path();

// Of the path named, or of the best for "". Throws Error(kUnsupported) for a name that this build lacks and
// for a path that this processor lacks.
const Kernels& choose_kernels(const std::string& name);

}  // namespace orfebre::cpu
