// Periods laid out twice, so that they are copied and compared in runs.
#include "bench/weft-bench/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "bench/weft-bench/values.hpp"

namespace weft::bench {
namespace {

constexpr std::uint64_t kShift = 37;  // by how much a period starts later than the one before

// Any bits; the byte of a Bool is 0 or 1.
std::vector<std::byte> random_elements(DataType dtype, int rank) {
  const auto bytes = size_of(dtype);
  std::vector<std::byte> values(Sequence::kPeriod * bytes);
  for (std::uint64_t index = 0; index < Sequence::kPeriod; ++index) {
    auto random = mix(static_cast<std::uint64_t>(rank), index, 8);
    if (dtype == DataType::Bool) random &= 1;
    std::memcpy(values.data() + index * bytes, &random, bytes);
  }
  return values;
}

template <typename Number>
std::vector<std::byte> encoded(DataType dtype, Number number) {
  const auto bytes = size_of(dtype);
  std::vector<std::byte> values(Sequence::kPeriod * bytes);
  for (std::uint64_t index = 0; index < Sequence::kPeriod; ++index)
    encode(dtype, number(index), values.data() + index * bytes);
  return values;
}

}  // namespace

Sequence::Sequence(std::vector<std::byte> values, std::size_t element_bytes)
    : twice_(std::move(values)), element_bytes_(element_bytes) {
  const auto once = twice_.size();
  twice_.resize(2 * once);
  std::copy_n(twice_.begin(), once, twice_.begin() + static_cast<std::ptrdiff_t>(once));
}

const std::byte* Sequence::element(std::uint64_t index) const {
  const auto start = (index / kPeriod * kShift + index % kPeriod) % kPeriod;
  return twice_.data() + start * element_bytes_;
}

void Sequence::write(std::byte* to, std::uint64_t first, std::uint64_t count) const {
  while (count > 0) {
    const auto run = std::min(count, kPeriod - first % kPeriod);
    std::memcpy(to, element(first), run * element_bytes_);
    to += run * element_bytes_;
    first += run;
    count -= run;
  }
}

std::uint64_t Sequence::count_wrong(const std::byte* from, std::uint64_t first, std::uint64_t count,
                                    std::uint64_t* where) const {
  std::uint64_t wrong = 0;
  for (std::uint64_t done = 0; done < count;) {
    const auto run = std::min(count - done, kPeriod - (first + done) % kPeriod);
    const auto* expected = element(first + done);
    const auto* found = from + done * element_bytes_;
    if (std::memcmp(found, expected, run * element_bytes_) != 0) {
      for (std::uint64_t i = 0; i < run; ++i) {
        if (std::memcmp(found + i * element_bytes_, expected + i * element_bytes_, element_bytes_) == 0) continue;
        if (wrong++ == 0) *where = done + i;
      }
    }
    done += run;
  }
  return wrong;
}

Pattern::Pattern(DataType dtype, ReduceOp op, bool reducing, int ranks) {
  const Reduction what{dtype, op, ranks};
  for (int rank = 0; rank < ranks; ++rank) {
    auto values = reducing ? encoded(dtype, [&](std::uint64_t index) { return bench::contribution(what, rank, index); })
                           : random_elements(dtype, rank);
    contributions_.emplace_back(std::move(values), size_of(dtype));
  }
  if (!reducing) return;
  contributions_.emplace_back(encoded(dtype, [&](std::uint64_t index) { return reduced(what, index); }),
                              size_of(dtype));
}

std::string element_to_string(DataType dtype, const std::byte* element) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, element, size_of(dtype));
  return fmt::format("{} (0x{:0{}x})", decode(dtype, element), bits, 2 * size_of(dtype));
}

}  // namespace weft::bench
