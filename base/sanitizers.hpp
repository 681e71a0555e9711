// Whether this is compiled for a sanitizer: 1 or 0. GCC says so by macros, Clang by features.
#pragma once

#if defined(__has_feature)
#define WEFT_HAS_FEATURE(feature) __has_feature(feature)
#else
#define WEFT_HAS_FEATURE(feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || WEFT_HAS_FEATURE(address_sanitizer)
#define WEFT_ADDRESS_SANITIZER 1
#else
#define WEFT_ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__) || WEFT_HAS_FEATURE(thread_sanitizer)
#define WEFT_THREAD_SANITIZER 1
#else
#define WEFT_THREAD_SANITIZER 0
#endif

#if WEFT_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

namespace weft::base {

// While one lives, what its thread allocates may be lost without LeakSanitizer's complaint: for calls into a library
// that loses memory of its own. Elsewhere it is nothing.
class OthersMayLeak final {
 public:
#if WEFT_ADDRESS_SANITIZER
  OthersMayLeak() { __lsan_disable(); }
  ~OthersMayLeak() { __lsan_enable(); }
#else
  OthersMayLeak() {}  // not defaulted: an unused object of a trivial type is a warning
  ~OthersMayLeak() {}
#endif
  OthersMayLeak(const OthersMayLeak&) = delete;
  OthersMayLeak& operator=(const OthersMayLeak&) = delete;
};

}  // namespace weft::base
