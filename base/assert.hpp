// WEFT_ASSERT: for what we can do wrong. On in dev and sanitizer builds; compiled away in release builds (the
// expression is not evaluated). What the world can do wrong returns a Status instead.
#pragma once

namespace weft::base {

[[noreturn]] void assertion_failed(const char* expression, const char* file, int line) noexcept;

}  // namespace weft::base

#ifdef WEFT_ASSERTIONS
#define WEFT_ASSERT(expression) \
  ((expression) ? static_cast<void>(0) : ::weft::base::assertion_failed(#expression, __FILE__, __LINE__))
#else
#define WEFT_ASSERT(expression) static_cast<void>(sizeof((expression) ? 1 : 0))
#endif
