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
