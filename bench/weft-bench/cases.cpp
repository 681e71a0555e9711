// Collectives, types, ops and sizes, one within the other.
#include "bench/weft-bench/cases.hpp"

#include <algorithm>

#include "bench/weft-bench/sizes.hpp"

namespace weft::bench {

namespace {

// A collective's calls of all types and operators, without counts. Not of a barrier, which has none of these.
std::vector<Operation> calls_of(Collective collective, const Arguments& arguments) {
  std::vector<Operation> calls;
  Operation call;
  call.collective = collective;
  call.quantisation = arguments.quantisation;
  call.root = has_root(collective) ? std::max(0, arguments.root) : 0;
  for (const auto dtype : arguments.dtypes) {
    call.dtype = dtype;
    for (const auto op : reduces(collective) ? arguments.ops : std::vector<ReduceOp>{ReduceOp::Sum}) {
      call.op = op;
      if (!reduces(collective) || valid(dtype, op)) calls.push_back(call);
    }
  }
  return calls;
}

// Out of place, in place, or both.
std::vector<bool> places_of(const Kind& kind, const Arguments& arguments) {
  // What goes out and what comes in are then not the same blocks.
  const bool blocks_differ = kind.uneven && kind.collective == Collective::AllToAll && arguments.skew != 1;
  std::vector<bool> places;
  if (arguments.out_of_place) places.push_back(false);
  if (arguments.in_place && !blocks_differ) places.push_back(true);
  return places;
}

}  // namespace

std::vector<Case> all_cases(const Arguments& arguments, int ranks) {
  std::vector<Case> cases;
  const auto add = [&](const Operation& call, bool in_place, bool uneven) {
    const bool all_roots = has_root(call.collective) && arguments.root == kAllRoots;
    const Case* const last = cases.empty() ? nullptr : &cases.back();
    if (last == nullptr || last->call != call || last->in_place != in_place || last->uneven != uneven)
      cases.push_back({call, all_roots, in_place, uneven, arguments.skew});
  };
  const std::vector<std::uint64_t> sizes = sweep(arguments.min_bytes, arguments.max_bytes, arguments.factor);
  for (const Kind& kind : arguments.collectives) {
    if (kind.collective == Collective::Barrier) {
      add(barrier(), false, false);
      continue;
    }
    for (const Operation& call : calls_of(kind.collective, arguments)) {
      for (const bool in_place : places_of(kind, arguments)) {
        for (const std::uint64_t bytes : sizes) add(sized(call, bytes, ranks), in_place, kind.uneven);
      }
    }
  }
  return cases;
}

std::pair<std::uint64_t, std::uint64_t> buffer_bytes(const Arguments& arguments, int ranks) {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  for (const auto& what : all_cases(arguments, ranks)) {
    if (what.call.collective == Collective::Barrier) continue;
    const auto element = size_of(what.call.dtype);
    // Block 0 is the longest or, where --skew is below 1, all others are.
    for (const int rank : {0, std::min(1, ranks - 1), what.call.root}) {
      const auto read = input_count(what, rank, ranks) * element;
      const auto written = output_count(what, rank, ranks) * element;
      if (!what.in_place) in = std::max(in, read);
      out = std::max(out, what.in_place ? std::max(read, written) : written);
    }
  }
  return {in, out};
}

std::uint64_t memory_of_a_rank(const Arguments& arguments, int ranks) {
  const auto [in, out] = buffer_bytes(arguments, ranks);
  return in + out;
}

Status check_cases(const Arguments& arguments, int ranks) {
  if (!all_cases(arguments, ranks).empty()) return {};
  return Status(
      Code::InvalidArgument,
      "nothing to measure: no --op given can reduce a --dtype given (bit operators need integers, avg no bool), or "
      "all_to_all_v was to be in place with another --skew than 1");
}

}  // namespace weft::bench
