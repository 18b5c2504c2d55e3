// The kernels in NEON as every 64-bit Arm has it; only the table is visible outside.
#include "backend/cpu/kernels.h"

#if defined(__aarch64__)
#include <arm_neon.h>

namespace orfebre::cpu {
namespace {
// Each file uses the words of those before it.
// clang-format off
#include "backend/cpu/kernels/lanes_neon.inl"
#include "backend/cpu/kernels/dots_neon.inl"
#include "backend/cpu/kernels/dots_arm.inl"
#include "backend/cpu/kernels/math.inl"
#include "backend/cpu/kernels/gemm.inl"
#include "backend/cpu/kernels/delta.inl"
#include "backend/cpu/kernels/attention.inl"
#include "backend/cpu/kernels/choose.inl"

constexpr const char* kName = "neon";
#include "backend/cpu/kernels/table.inl"
// clang-format on
}  // namespace

const Kernels& neon_kernels() {
  return kTable;
}

}  // namespace orfebre::cpu
#endif
