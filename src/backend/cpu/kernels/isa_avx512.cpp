// The kernels in AVX-512 with VNNI: compiled with that set's flags (CMakeLists.txt), so only the table is
// visible outside.
#include "backend/cpu/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace orfebre::cpu {
namespace {
// Each file uses the words of those before it.
// clang-format off
#include "backend/cpu/kernels/lanes_avx512.inl"
#include "backend/cpu/kernels/lanes_x86.inl"
#include "backend/cpu/kernels/math.inl"
#include "backend/cpu/kernels/gemm.inl"
#include "backend/cpu/kernels/delta.inl"
#include "backend/cpu/kernels/attention.inl"
#include "backend/cpu/kernels/choose.inl"

constexpr const char* kName = "avx512-vnni";
#include "backend/cpu/kernels/table.inl"
// clang-format on
}  // namespace

const Kernels& avx512_kernels() {
  return kTable;
}

}  // namespace orfebre::cpu
#endif
