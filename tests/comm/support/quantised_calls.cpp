// The reference uses the kernels, whose own test compares them with slow arithmetic; the bound is computed in double.
#include "tests/comm/support/quantised_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "algorithms/canonical_order.hpp"
#include "base/fnv1a.hpp"
#include "bench/weft-bench/values.hpp"
#include "comm/kernels/quantise.hpp"
#include "comm/kernels/variants.hpp"

namespace weft::testing {
namespace {

using Buffer = std::vector<std::byte>;
using comm::kPackedBlockBytes;

// Half of the last place of a number of the type, as a part of the number; float's is in the unit of error.
double rounding(DataType dtype) {
  if (dtype == DataType::BFloat16) return 0x1p-8;
  return dtype == DataType::Float16 ? 0x1p-11 : 0;
}

std::uint32_t narrowed(DataType dtype, float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  if (dtype == DataType::Float32) return bits;
  // The upper half is a bfloat16, and with exponents around 2^-8 .. 2^8 as good a float16 as any.
  return dtype == DataType::BFloat16 ? bits >> 16 : (bits >> 16 & 0x8000U) | 0x2000U | (bits >> 13 & 0x1fffU);
}

double largest(const std::vector<double>& values, std::uint64_t first, std::uint64_t end) {
  double most = 0;
  for (std::uint64_t i = first; i < end; ++i)
    if (std::isfinite(values[i])) most = std::max(most, std::abs(values[i]));
  return most;
}

Buffer packed(const comm::QuantiseKernels& kernels, const Buffer& values, std::uint64_t blocks, std::uint64_t count) {
  Buffer result(blocks * kPackedBlockBytes);
  kernels.pack(result.data(), blocks, values.data(), count);
  return result;
}

}  // namespace

std::vector<std::byte> unruly_numbers(DataType dtype, std::uint64_t count, int rank, std::uint64_t seed) {
  std::mt19937_64 random(seed * 1'000'003 + static_cast<std::uint64_t>(rank));
  const std::size_t element = size_of(dtype);
  Buffer buffer(count * element);
  int scale = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i % kQuantisedBlock == 0) scale = static_cast<int>(random() % 41) - 20;
    const double significand = 0.5 + static_cast<double>(random() >> 11) * 0x1p-54;
    const double sign = random() % 2 == 0 ? 1 : -1;
    const int exponent = scale - static_cast<int>(random() % 21);
    const std::uint32_t bits = narrowed(dtype, static_cast<float>(std::ldexp(sign * significand, exponent)));
    std::memcpy(buffer.data() + i * element, &bits, element);
  }
  return buffer;
}

std::vector<double> as_doubles(DataType dtype, const std::vector<std::byte>& bytes) {
  std::vector<double> values;
  for (std::size_t at = 0; at < bytes.size(); at += size_of(dtype))
    values.push_back(bench::decode(dtype, bytes.data() + at));
  return values;
}

std::vector<std::byte> quantised_reference(const Operation& call, const std::vector<std::vector<std::byte>>& inputs) {
  const comm::QuantiseTable& table = *comm::kernel_variants().front().quantise;
  const comm::QuantiseKernels& kernels =
      table[static_cast<std::size_t>(call.dtype)][static_cast<std::size_t>(call.quantisation)];
  const auto size = static_cast<int>(inputs.size());
  const std::size_t bytes = call.count * size_of(call.dtype);
  const std::uint64_t blocks = (call.count + kQuantisedBlock - 1) / kQuantisedBlock;
  Buffer all;
  std::vector<std::uint8_t> joins;
  for (int rank = 0; rank < size; ++rank) {
    const Buffer one = packed(kernels, inputs[static_cast<std::size_t>(rank)], blocks, call.count);
    all.insert(all.end(), one.begin(), one.end());
    joins.push_back(static_cast<std::uint8_t>(algorithms::joins_after(rank, size)));
  }
  if (call.collective == Collective::AllGather) {
    Buffer result(bytes * inputs.size());
    for (std::size_t rank = 0; rank < inputs.size(); ++rank)
      kernels.unpack(result.data() + rank * bytes, all.data() + rank * blocks * kPackedBlockBytes, call.count);
    return result;
  }
  Buffer sum(blocks * kPackedBlockBytes);
  const comm::SumOrder order{joins.data(), joins.size(), call.op == ReduceOp::Avg ? static_cast<float>(size) : 1};
  kernels.sum(sum.data(), blocks, all.data(), sum.size(), order);
  Buffer result(bytes);
  kernels.unpack(result.data(), sum.data(), call.count);
  return result;
}

std::string beyond_the_bound(const Operation& call, const std::vector<std::vector<std::byte>>& inputs,
                             const std::vector<std::byte>& result) {
  std::vector<std::vector<double>> numbers;
  for (const Buffer& input : inputs) numbers.push_back(as_doubles(call.dtype, input));
  const std::vector<double> found = as_doubles(call.dtype, result);
  const bool reduces = call.collective == Collective::AllReduce;
  const double share = reduces && call.op == ReduceOp::Avg ? 1.0 / static_cast<double>(inputs.size()) : 1.0;
  const double unit = unit_error(call.quantisation);
  for (std::uint64_t at = 0; at < found.size(); ++at) {
    const std::uint64_t index = at % call.count;
    const std::uint64_t first = index / kQuantisedBlock * kQuantisedBlock;
    const std::uint64_t end = std::min(call.count, first + kQuantisedBlock);
    double expected = 0;
    double maxima = 0;
    for (std::size_t rank = 0; rank < inputs.size(); ++rank) {
      if (!reduces && rank != at / call.count) continue;
      expected += numbers[rank][index] * share;
      maxima += largest(numbers[rank], first, end) * share;
    }
    if (reduces) maxima += largest(found, first, end);
    const double bound = unit * maxima + rounding(call.dtype) * std::abs(found[at]) + 0x1p-140;
    if (!(std::abs(found[at] - expected) <= bound))
      return fmt::format("element {} is {}, not within {} of {}", at, found[at], bound, expected);
  }
  return {};
}

namespace {

bool equal_everywhere(comm::CommunicatorState& communicator, const Buffer& result) {
  const std::uint64_t own = base::fnv1a({reinterpret_cast<const char*>(result.data()), result.size()});
  std::vector<std::uint64_t> all(static_cast<std::size_t>(communicator.size()));
  const Status status = communicator.run(all_gather(&own, all.data(), 1, DataType::UInt64));
  return status.ok() && std::all_of(all.begin(), all.end(), [&](std::uint64_t hash) { return hash == own; });
}

}  // namespace

std::string run_quantised(comm::CommunicatorState& communicator, Operation call, bool in_place, std::uint64_t seed,
                          Bits bits) {
  const int size = communicator.size();
  std::vector<Buffer> inputs;
  for (int rank = 0; rank < size; ++rank) inputs.push_back(unruly_numbers(call.dtype, call.count, rank, seed));
  const Buffer& own = inputs[static_cast<std::size_t>(communicator.rank())];
  const Buffer expected = quantised_reference(call, inputs);
  Buffer out(expected.size(), std::byte{0x5a});
  const std::size_t at =
      call.collective == Collective::AllGather ? own.size() * static_cast<std::size_t>(communicator.rank()) : 0;
  const Buffer in = own;
  if (in_place) std::copy(own.begin(), own.end(), out.begin() + static_cast<std::ptrdiff_t>(at));
  call.in = in_place ? out.data() + at : in.data();
  call.out = out.data();
  const Status status = communicator.run(call);
  if (!status.ok()) return status.to_string();
  if (in != own) return "the input was written";
  if (!equal_everywhere(communicator, out)) return "ranks hold different bits";
  if (bits == Bits::OfTheReference && out != expected) return "other bits than packed, summed and unpacked as a whole";
  return beyond_the_bound(call, inputs, out);
}

}  // namespace weft::testing
