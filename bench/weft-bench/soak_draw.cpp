// What is drawn of a call: kind, root, type, operator, skew, place and size.
#include "bench/weft-bench/soak_draw.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace weft::bench {
namespace {

std::vector<std::pair<DataType, ReduceOp>> reductions_of(const Arguments& arguments) {
  std::vector<std::pair<DataType, ReduceOp>> reductions;
  for (const DataType dtype : arguments.dtypes) {
    for (const ReduceOp op : arguments.ops) {
      if (valid(dtype, op)) reductions.emplace_back(dtype, op);
    }
  }
  return reductions;
}

}  // namespace

std::vector<Kind> drawable_kinds(const Arguments& arguments) {
  std::vector<Kind> kinds = arguments.collectives;
  if (reductions_of(arguments).empty()) std::erase_if(kinds, [](const Kind& kind) { return reduces(kind.collective); });
  return kinds;
}

Draw::Draw(std::uint64_t seed, const Arguments& arguments, int ranks)
    : random_(seed),
      arguments_(arguments),
      kinds_(drawable_kinds(arguments)),
      reductions_(reductions_of(arguments)),
      ranks_(ranks) {}

Case Draw::next() {
  Case what;
  const Kind kind = one_of(kinds_);
  what.call.collective = kind.collective;
  if (kind.collective == Collective::Barrier) return what;
  what.uneven = kind.uneven;
  if (has_root(kind.collective)) what.call.root = number(ranks_);
  if (reduces(kind.collective)) {
    std::tie(what.call.dtype, what.call.op) = one_of(reductions_);
  } else {
    what.call.dtype = one_of(arguments_.dtypes);
  }
  if (what.uneven) what.skew = std::array{0.5, 1.0, 2.0, 3.0}[static_cast<std::size_t>(number(4))];
  // What goes out and what comes in of all_to_all_v are not the same blocks.
  what.in_place = number(2) == 0 && !(what.uneven && kind.collective == Collective::AllToAll && what.skew != 1);
  what.call = sized(what.call, bytes(), ranks_);
  return what;
}

// As many of each order of magnitude.
std::uint64_t Draw::bytes() {
  const std::uint64_t first = std::max<std::uint64_t>(1, arguments_.min_bytes);
  int powers = 0;
  while (powers < 62 && first <= arguments_.max_bytes >> (powers + 1)) ++powers;
  const std::uint64_t least = first << number(powers + 1);
  return std::min(least + random_() % least, arguments_.max_bytes);
}

}  // namespace weft::bench
