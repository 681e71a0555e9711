// The largest number of a block of the result is not known exactly before it is quantised: at most what is expected and
// the inputs' errors.
#include "bench/weft-bench/tolerance.hpp"

#include <algorithm>
#include <cmath>

#include "bench/weft-bench/values.hpp"

namespace weft::bench {
namespace {

// By how much of itself a number of the type is off from what it was rounded from; float's is in the unit of error.
double rounding(DataType dtype) {
  if (dtype == DataType::BFloat16) return 0x1p-8;
  return dtype == DataType::Float16 ? 0x1p-11 : 0;
}

}  // namespace

Tolerance::Tolerance(const Operation& call, int ranks, std::vector<const Sequence*> sources)
    : dtype_(call.dtype),
      unit_(unit_error(call.quantisation)),
      share_(weft::reduces(call.collective) && call.op == ReduceOp::Avg ? 1.0 / ranks : 1.0),
      reduces_(weft::reduces(call.collective)),
      sources_(std::move(sources)) {}

std::uint64_t Tolerance::count_beyond(const std::byte* found, const Sequence& expected, std::uint64_t count,
                                      std::uint64_t* where, double* by) const {
  const std::size_t element = size_of(dtype_);
  std::uint64_t wrong = 0;
  for (std::uint64_t first = 0; first < count; first += kQuantisedBlock) {
    const std::uint64_t end = std::min(count, first + kQuantisedBlock);
    const double bound = of_block(expected, first, end);
    for (std::uint64_t index = first; index < end; ++index) {
      const double off = decode(dtype_, found + index * element) - decode(dtype_, expected.element(index));
      if (std::abs(off) <= bound) continue;  // NaN is not
      if (wrong++ > 0) continue;
      *where = index;
      *by = bound;
    }
  }
  return wrong;
}

double Tolerance::of_block(const Sequence& expected, std::uint64_t first, std::uint64_t end) const {
  double inputs = 0;
  for (const Sequence* source : sources_) inputs += largest(*source, first, end);
  const double before = unit_ * share_ * inputs;
  const double result = largest(expected, first, end) + before;
  return before + (reduces_ ? unit_ * result : 0) + rounding(dtype_) * result;
}

double Tolerance::largest(const Sequence& values, std::uint64_t first, std::uint64_t end) const {
  double most = 0;
  for (std::uint64_t index = first; index < end; ++index)
    most = std::max(most, std::abs(decode(dtype_, values.element(index))));
  return most;
}

}  // namespace weft::bench
