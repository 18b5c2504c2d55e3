#include "backend/cpu/paths.h"

#include "base/error.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace orfebre::cpu {
namespace {

#if defined(__x86_64__)

bool has_f16c() {  // clang 14 does not know this name in __builtin_cpu_supports
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

bool runs_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}

bool runs_avx512() {
  return runs_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vnni");
}

constexpr Path kPaths[] = {
    {"avx512", "AVX-512 F, BW, VL, DQ and VNNI", runs_avx512, avx512_kernels},
    {"avx2", "AVX2, FMA and F16C", runs_avx2, avx2_kernels},
};

#elif defined(__aarch64__)

#if defined(__linux__)
// Bits of Linux's arm64 interface, which <asm/hwcap.h> of old headers lacks.
constexpr unsigned long kHasDotprod = 1ul << 20;  // AT_HWCAP: ASIMDDP
constexpr unsigned long kHasI8mm = 1ul << 13;     // AT_HWCAP2: I8MM

bool runs_dotprod() {
  return (getauxval(AT_HWCAP) & kHasDotprod) != 0;
}
bool runs_i8mm() {
  return (getauxval(AT_HWCAP2) & kHasI8mm) != 0;
}
#elif defined(__APPLE__)
bool has_feature(const char* name) {
  int value = 0;
  size_t size = sizeof(value);
  return sysctlbyname(name, &value, &size, nullptr, 0) == 0 && value != 0;
}
bool runs_dotprod() {
  return has_feature("hw.optional.arm.FEAT_DotProd");
}
bool runs_i8mm() {
  return has_feature("hw.optional.arm.FEAT_I8MM");
}
#else
bool runs_dotprod() {
  return false;
}
bool runs_i8mm() {
  return false;
}
#endif

bool runs_neon() {
  return true;
}

constexpr Path kPaths[] = {
    {"i8mm", "the i8mm instructions", runs_i8mm, i8mm_kernels},
    {"dotprod", "the dotprod instructions", runs_dotprod, dotprod_kernels},
    {"neon", "NEON", runs_neon, neon_kernels},
};

#endif

}  // namespace

std::span<const Path> paths() {
#if defined(__x86_64__) || defined(__aarch64__)
  return kPaths;
#else
  return {};
#endif
}

const Path* best_path() {
  for (const Path& path : paths()) {
    if (path.runs_here()) {
      return &path;
    }
  }
  return nullptr;
}

const Kernels& choose_kernels(const std::string& name) {
  if (name.empty()) {
    const Path* const best = best_path();
    if (best == nullptr) {
      fail(ErrorKind::kUnsupported,
           "the CPU backend needs {}, which this processor lacks; use --backend reference",
           paths().empty() ? "an x86-64 or 64-bit Arm processor" : paths().back().needs);
    }
    return best->kernels();
  }
  std::string names;
  for (const Path& path : paths()) {
    if (path.name == name) {
      if (!path.runs_here()) {
        fail(ErrorKind::kUnsupported,
             "CPU path '{}' needs {}, which this processor lacks; leave it out to have the best that runs "
             "here",
             name, path.needs);
      }
      return path.kernels();
    }
    names += names.empty() ? path.name : std::string(", ") + path.name;
  }
  fail(ErrorKind::kUnsupported, "CPU path '{}' is unknown; expected one of: {}", name,
       names.empty() ? "none in this build" : names);
}

}  // namespace orfebre::cpu
