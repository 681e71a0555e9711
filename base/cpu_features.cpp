// Asks the compiler's run-time support, which also knows whether the operating system saves the wide registers. Clang's
// does not know F16C by name, so that bit is read from the processor.
#include "base/cpu_features.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace weft::base {

#if defined(__x86_64__)

bool cpu_has_avx2_and_f16c() noexcept {
  // Kept, because a virtual machine traps on every cpuid.
  static const bool has = [] {
    unsigned int eax = 0, ebx = 0, ecx = 0, edx = 0;
    const bool f16c = __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
    return f16c && __builtin_cpu_supports("avx2");
  }();
  return has;
}

#else

bool cpu_has_avx2_and_f16c() noexcept { return false; }

#endif

}  // namespace weft::base
