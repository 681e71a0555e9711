// An element tells where it comes from, which block it is of and its place there.
#include "tests/comm/support/uneven_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace weft::testing {
namespace {

std::int32_t value(int from, int block, std::uint64_t index) {
  return from * 1'000'003 + block * 1'009 + static_cast<std::int32_t>(index);
}

template <typename Element>
Values filled(const Row& row, Element element) {
  Values values(std::max<std::uint64_t>(1, row.extent), kUntouched);
  for (std::size_t block = 0; block < row.counts.size(); ++block)
    for (std::uint64_t i = 0; i < row.counts[block]; ++i)
      values[row.offsets[block] + i] = element(static_cast<int>(block), i);
  return values;
}

std::string difference(const Values& got, const Values& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (got[i] != expected[i]) return fmt::format("element {} is {}, expected {}", i, got[i], expected[i]);
  return {};
}

}  // namespace

Row::Row(Counts sizes, bool apart) : counts(std::move(sizes)), offsets(counts.size()) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::size_t block = apart ? counts.size() - 1 - i : i;
    offsets[block] = extent;
    extent += counts[block] + (apart ? 3 : 0);
  }
}

Side::Side(const UnevenCall& what) : what_(what), in_(row(true), what.apart), out_(row(false), what.apart) {}

Operation Side::call(const Values& in, Values& out) const {
  const auto [collective, sizes, rank, size, root, apart] = what_;
  switch (collective) {
    case Collective::AllGather:
      return all_gather_v(in.data(), out.data(), out_.blocks(), DataType::Int32);
    case Collective::ReduceScatter:
      return reduce_scatter_v(in.data(), in_.blocks(), out.data(), DataType::Int32);
    case Collective::AllToAll:
      return all_to_all_v(in.data(), in_.blocks(), out.data(), out_.blocks(), DataType::Int32);
    case Collective::Gather:
      return gather_v(in.data(), sizes(rank, root), out.data(), out_.blocks(), DataType::Int32, root);
    default:
      return scatter_v(in.data(), in_.blocks(), out.data(), sizes(root, rank), DataType::Int32, root);
  }
}

Values Side::input() const {
  return filled(in_, [&](int block, std::uint64_t i) { return given(block, i); });
}

Values Side::untouched() const { return Values(std::max<std::uint64_t>(1, out_.extent), kUntouched); }

Values Side::expected() const {
  return filled(out_, [&](int block, std::uint64_t i) { return result(block, i); });
}

bool Side::reads_all() const {
  return what_.collective == Collective::ReduceScatter || what_.collective == Collective::AllToAll ||
         (what_.collective == Collective::Scatter && what_.rank == what_.root);
}

bool Side::writes_all() const {
  return what_.collective == Collective::AllGather || what_.collective == Collective::AllToAll ||
         (what_.collective == Collective::Gather && what_.rank == what_.root);
}

// Of a block of all: that of reduce_scatter must not depend on the rank that gives it.
std::uint64_t Side::elements(int block, bool input) const {
  switch (what_.collective) {
    case Collective::AllGather:
    case Collective::ReduceScatter:
      return what_.sizes(block, 0);
    case Collective::AllToAll:
      return input ? what_.sizes(what_.rank, block) : what_.sizes(block, what_.rank);
    case Collective::Gather:
      return what_.sizes(block, what_.root);
    default:
      return what_.sizes(what_.root, block);
  }
}

Counts Side::row(bool input) const {
  Counts counts;
  if (input ? reads_all() : writes_all()) {
    for (int block = 0; block < what_.size; ++block) counts.push_back(elements(block, input));
  } else if (what_.collective != (input ? Collective::Scatter : Collective::Gather)) {
    counts.push_back(elements(what_.rank, input));
  }
  return counts;
}

std::int32_t Side::given(int block, std::uint64_t index) const {
  return value(what_.rank, reads_all() ? block : what_.rank, index);
}

std::int32_t Side::result(int block, std::uint64_t index) const {
  switch (what_.collective) {
    case Collective::AllGather:
    case Collective::Gather:
      return value(block, block, index);
    case Collective::AllToAll:
      return value(block, what_.rank, index);
    case Collective::Scatter:
      return value(what_.root, what_.rank, index);
    default: {
      std::int32_t sum = 0;
      for (int from = 0; from < what_.size; ++from) sum += value(from, what_.rank, index);
      return sum;
    }
  }
}

std::string run_once(comm::CommunicatorState& communicator, const UnevenCall& what) {
  const Side side(what);
  const Values input = side.input();
  Values in = input;
  Values out = side.untouched();
  if (const Status status = communicator.run(side.call(in, out)); !status.ok()) return std::string(status.message());
  if (in != input) return "the input was written";
  return difference(out, side.expected());
}

std::string run_in_place(comm::CommunicatorState& communicator, const UnevenCall& what) {
  const Side side(what);
  const bool reads_all = side.reads_all();
  const Values expected = side.expected();
  Values all = reads_all ? side.input() : side.untouched();
  const auto own = static_cast<std::ptrdiff_t>(side.own_offset());
  const auto own_count = static_cast<std::ptrdiff_t>(side.own_count());
  if (!reads_all) {
    const Values given = side.input();
    std::copy(given.begin(), given.begin() + own_count, all.begin() + own);
  }
  Operation call = side.call(all, all);
  if (what.collective != Collective::AllToAll)
    (reads_all ? call.out : *const_cast<void**>(&call.in)) = all.data() + own;
  if (const Status status = communicator.run(call); !status.ok()) return std::string(status.message());
  if (what.collective == Collective::AllToAll || !reads_all) return difference(all, expected);
  const Values result(all.begin() + own, all.begin() + own + own_count);
  return result == Values(expected.begin(), expected.begin() + own_count) ? std::string() : "wrong";
}

}  // namespace weft::testing
