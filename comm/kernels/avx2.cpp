// The kernels for x86 processors with AVX2 and F16C; this file is compiled for them (kernels.cmake). The compiler makes
// the vectors, except for the 16-bit floats, whose conversions it does not find.
#if defined(__x86_64__)

#include <immintrin.h>

#include "comm/kernels/quantise_loops.hpp"
#include "comm/kernels/table.hpp"

namespace weft::comm {
namespace {

// Sixteen 16-bit floats as two vectors of float. Which element is where does not matter, as long as load and store
// agree.
struct Sixteen {
  __m256 low;
  __m256 high;
};
constexpr std::size_t kGroup = 16;

// Both conversions are exact or round to nearest even, whatever the thread's rounding and flushing modes are.
struct Float16Groups {
  static Sixteen load(const unsigned char* from) {
    const auto* halves = reinterpret_cast<const __m128i*>(from);
    return {_mm256_cvtph_ps(_mm_loadu_si128(halves)), _mm256_cvtph_ps(_mm_loadu_si128(halves + 1))};
  }
  static void store(unsigned char* to, Sixteen value) {
    auto* halves = reinterpret_cast<__m128i*>(to);
    _mm_storeu_si128(halves, _mm256_cvtps_ph(value.low, _MM_FROUND_TO_NEAREST_INT));
    _mm_storeu_si128(halves + 1, _mm256_cvtps_ph(value.high, _MM_FROUND_TO_NEAREST_INT));
  }
};

struct BFloat16Groups {
  // Even elements in `low`, odd ones in `high`: each is one instruction away from its place in a float.
  static Sixteen load(const unsigned char* from) {
    const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return {_mm256_castsi256_ps(_mm256_slli_epi32(halves, 16)),
            _mm256_castsi256_ps(_mm256_and_si256(halves, _mm256_set1_epi32(static_cast<int>(0xffff0000))))};
  }
  static void store(unsigned char* to, Sixteen value) {
    const __m256i even = _mm256_srli_epi32(round(value.low), 16);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_blend_epi16(even, round(value.high), 0xaa));
  }
  // Rounds to nearest even in the upper half; leaves anything in the lower.
  static __m256i round(__m256 value) {
    const __m256i bits = _mm256_castps_si256(value);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    return _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
  }
};

// element.hpp's operators on vectors.
inline __m256 canonical_where(__m256 unordered, __m256 value) {
  return _mm256_blendv_ps(value, _mm256_set1_ps(std::numeric_limits<float>::quiet_NaN()), unordered);
}
inline __m256 canonical(__m256 value) { return canonical_where(_mm256_cmp_ps(value, value, _CMP_UNORD_Q), value); }

inline __m256 apply(Sum, __m256 a, __m256 b) { return canonical(_mm256_add_ps(a, b)); }
inline __m256 apply(Product, __m256 a, __m256 b) { return canonical(_mm256_mul_ps(a, b)); }
inline __m256 apply(Minimum, __m256 a, __m256 b) {
  const __m256 ordered = _mm256_or_ps(_mm256_min_ps(a, b), _mm256_min_ps(b, a));
  return canonical_where(_mm256_cmp_ps(a, b, _CMP_UNORD_Q), ordered);
}
inline __m256 apply(Maximum, __m256 a, __m256 b) {
  const __m256 ordered = _mm256_and_ps(_mm256_max_ps(a, b), _mm256_max_ps(b, a));
  return canonical_where(_mm256_cmp_ps(a, b, _CMP_UNORD_Q), ordered);
}
inline __m256 apply(const Mean<float>& mean, __m256 a, __m256 b) {
  return canonical(_mm256_div_ps(_mm256_add_ps(a, b), _mm256_set1_ps(mean.size())));
}

template <typename Groups, typename Op>
inline void reduce_group(unsigned char* out, const unsigned char* left, const unsigned char* right, Op op) {
  const Sixteen a = Groups::load(left);
  const Sixteen b = Groups::load(right);
  Groups::store(out, {apply(op, a.low, b.low), apply(op, a.high, b.high)});
}

template <typename Groups>
struct GroupLoop {
  template <typename Op>
  static void run(void* dst, const void* a, const void* b, std::size_t count, Op op) {
    constexpr std::size_t kGroupBytes = kGroup * sizeof(std::uint16_t);
    auto* out = static_cast<unsigned char*>(dst);
    const auto* left = static_cast<const unsigned char*>(a);
    const auto* right = static_cast<const unsigned char*>(b);
    const std::size_t whole_bytes = count / kGroup * kGroupBytes;
    for (std::size_t offset = 0; offset < whole_bytes; offset += kGroupBytes)
      reduce_group<Groups>(out + offset, left + offset, right + offset, op);

    const std::size_t rest_bytes = count * sizeof(std::uint16_t) - whole_bytes;
    if (rest_bytes == 0) return;
    unsigned char rest[3][kGroupBytes] = {};
    std::memcpy(rest[0], left + whole_bytes, rest_bytes);
    std::memcpy(rest[1], right + whole_bytes, rest_bytes);
    reduce_group<Groups>(rest[2], rest[0], rest[1], op);
    std::memcpy(out + whole_bytes, rest[2], rest_bytes);
  }
};

template <>
struct Loop<Float16Format> : GroupLoop<Float16Groups> {};
template <>
struct Loop<BFloat16Format> : GroupLoop<BFloat16Groups> {};

}  // namespace

constinit const KernelTable kAvx2Kernels = make_table();
constinit const QuantiseTable kAvx2Quantise = make_quantise_table();

}  // namespace weft::comm

#endif
