// Counts as nccl-tests counts bytes, and blocks of unequal length.
#include "bench/weft-bench/case.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weft::bench {
namespace {

bool counts_blocks(Collective collective) {
  switch (collective) {
    case Collective::AllGather:
    case Collective::ReduceScatter:
    case Collective::AllToAll:
    case Collective::Gather:
    case Collective::Scatter:
      return true;
    default:
      return false;
  }
}

std::uint64_t sum(const std::vector<std::uint64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

}  // namespace

Operation sized(Operation call, std::uint64_t bytes, int ranks) {
  if (call.collective == Collective::Barrier) return call;
  const auto elements = bytes / size_of(call.dtype);
  call.count = std::max<std::uint64_t>(
      1, counts_blocks(call.collective) ? elements / static_cast<std::uint64_t>(ranks) : elements);
  return call;
}

std::string name_of(const Case& what) {
  std::string name(to_string(what.call.collective));
  if (what.uneven) name += "_v";
  return name;
}

std::vector<std::uint64_t> block_lengths(const Case& what, int ranks) {
  const auto count = static_cast<std::uint64_t>(ranks);
  std::vector<std::uint64_t> lengths(count, what.call.count);
  if (!what.uneven || ranks == 1) return lengths;
  const std::uint64_t all = what.call.count * count;
  lengths[0] =
      std::min(all, static_cast<std::uint64_t>(std::llround(static_cast<double>(what.call.count) * what.skew)));
  const std::uint64_t rest = all - lengths[0];
  for (std::uint64_t block = 1; block < count; ++block)
    lengths[block] = rest / (count - 1) + (block <= rest % (count - 1) ? 1 : 0);
  return lengths;
}

std::uint64_t input_count(const Case& what, int rank, int ranks) {
  const std::vector<std::uint64_t> lengths = block_lengths(what, ranks);
  switch (what.call.collective) {
    case Collective::AllGather:
    case Collective::Gather:
      return lengths[static_cast<std::size_t>(rank)];
    case Collective::ReduceScatter:
    case Collective::AllToAll:
      return sum(lengths);
    default:
      return weft::input_count(what.call, rank, ranks);
  }
}

std::uint64_t output_count(const Case& what, int rank, int ranks) {
  const std::vector<std::uint64_t> lengths = block_lengths(what, ranks);
  switch (what.call.collective) {
    case Collective::ReduceScatter:
    case Collective::Scatter:
      return lengths[static_cast<std::size_t>(rank)];
    case Collective::AllGather:
      return sum(lengths);
    case Collective::AllToAll:
      return lengths[static_cast<std::size_t>(rank)] * static_cast<std::uint64_t>(ranks);
    default:
      return weft::output_count(what.call, rank, ranks);
  }
}

}  // namespace weft::bench
