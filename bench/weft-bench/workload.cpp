// What each collective reads and writes, in pieces of the pattern.
#include "bench/weft-bench/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "bench/weft-bench/tolerance.hpp"

namespace weft::bench {
namespace {

constexpr std::byte kPoison{0xa7};  // no pattern's element consists of it, but for a random one in 256^bytes

}  // namespace

Workload::Workload(const Case& what, Place place, const Pattern& pattern, Buffers buffers)
    : case_(what),
      rank_(place.rank),
      ranks_(place.ranks),
      pattern_(pattern),
      buffers_(buffers),
      lengths_(block_lengths(what, place.ranks)),
      received_(lengths_.size(), lengths_[static_cast<std::size_t>(place.rank)]) {
  std::exclusive_scan(lengths_.begin(), lengths_.end(), std::back_inserter(begins_), std::uint64_t{0});
  // Roots differ in what they read and write, so the buffers serve any.
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  std::vector<Operation> calls;
  const int first = case_.all_roots ? 0 : case_.call.root;
  for (int root = first; root == first || (case_.all_roots && root < ranks_); ++root) {
    Case one = case_;
    one.call.root = root;
    read = std::max(read, input_count(one, rank_, ranks_));
    written = std::max(written, output_count(one, rank_, ranks_));
    calls.push_back(one.call);
  }
  const auto element = size_of(case_.call.dtype);
  in_bytes_ = buffers_.in.place(case_.in_place ? 0 : read * element);
  out_bytes_ = buffers_.out.place((case_.in_place ? std::max(read, written) : written) * element);
  for (const auto& call : calls) calls_.push_back(bound(call));
}

Operation Workload::bound(const Operation& call) const {
  Case one = case_;
  one.call = call;
  const bool reads = input_count(one, rank_, ranks_) > 0;
  const bool writes = output_count(one, rank_, ranks_) > 0;
  const auto own_block = begin(rank_) * size_of(call.dtype);
  auto result = call;
  std::byte* in = case_.in_place ? out_bytes_.data() : in_bytes_.data();
  std::byte* out = out_bytes_.data();
  if (case_.in_place && reads && writes) {
    if (call.collective == Collective::AllGather || call.collective == Collective::Gather) in += own_block;
    if (call.collective == Collective::ReduceScatter || call.collective == Collective::Scatter) out += own_block;
  }
  result.in = reads ? in : nullptr;
  result.out = writes ? out : nullptr;
  if (case_.uneven) bind_blocks(result);
  return result;
}

void Workload::bind_blocks(Operation& call) const {
  call.uneven = true;
  call.in_blocks = {lengths_.data(), nullptr};
  call.out_blocks = {call.collective == Collective::AllToAll ? received_.data() : lengths_.data(), nullptr};
  call.count =
      call.collective == Collective::AllToAll ? *std::max_element(lengths_.begin(), lengths_.end()) : length(rank_);
}

std::vector<Workload::Piece> Workload::input(const Operation& call) const {
  const auto count = weft::input_count(call, rank_, ranks_);
  if (count == 0) return {};
  return {{&pattern_.contribution(rank_), 0, count}};
}

std::vector<Workload::Piece> Workload::output(const Operation& call) const {
  if (weft::output_count(call, rank_, ranks_) == 0) return {};
  std::vector<Piece> pieces;
  switch (call.collective) {
    case Collective::AllReduce:
    case Collective::Reduce:
      return {{&pattern_.reduction(), 0, call.count}};
    case Collective::ReduceScatter:
      return {{&pattern_.reduction(), begin(rank_), length(rank_)}};
    case Collective::Broadcast:
      return {{&pattern_.contribution(call.root), 0, call.count}};
    case Collective::Scatter:
      return {{&pattern_.contribution(call.root), begin(rank_), length(rank_)}};
    case Collective::AllGather:
    case Collective::Gather:
      for (int from = 0; from < ranks_; ++from) pieces.push_back({&pattern_.contribution(from), 0, length(from)});
      return pieces;
    case Collective::AllToAll:
      for (int from = 0; from < ranks_; ++from)
        pieces.push_back({&pattern_.contribution(from), begin(rank_), length(rank_)});
      return pieces;
    case Collective::Barrier:
      return {};
  }
  return {};
}

void Workload::fill(const Operation& call) {
  std::fill(in_bytes_.begin(), in_bytes_.end(), kPoison);
  std::fill(out_bytes_.begin(), out_bytes_.end(), kPoison);
  auto* to = static_cast<std::byte*>(const_cast<void*>(call.in));  // our own buffer
  for (const auto& piece : input(call)) {
    piece.values->write(to, piece.first, piece.count);
    to += piece.count * size_of(call.dtype);
  }
}

void Workload::clear() {
  std::fill(in_bytes_.begin(), in_bytes_.end(), std::byte{0});
  std::fill(out_bytes_.begin(), out_bytes_.end(), std::byte{0});
}

Verdict Workload::check(const Operation& call) const {
  Verdict verdict;
  if (call.quantisation == Quantisation::None)
    check_pieces(output(call), call.out, "output", verdict);
  else
    check_quantised(call, verdict);
  if (!case_.in_place) check_pieces(input(call), call.in, "input, which may not be written,", verdict);
  if (const auto broken = buffers_.in.broken_guards() + buffers_.out.broken_guards(); broken > 0) {
    if (verdict.wrong == 0)
      verdict.first_wrong = fmt::format("{} bytes before or after the buffers were written", broken);
    verdict.wrong += broken;
  }
  return verdict;
}

// Results that are not exact: each within what it may be off by.
void Workload::check_quantised(const Operation& call, Verdict& verdict) const {
  const auto* from = static_cast<const std::byte*>(call.out);
  std::uint64_t offset = 0;
  for (const auto& piece : output(call)) {
    std::vector<const Sequence*> sources = {piece.values};
    if (reduces(call.collective)) sources.clear();
    for (int rank = 0; reduces(call.collective) && rank < ranks_; ++rank)
      sources.push_back(&pattern_.contribution(rank));
    const std::byte* const found = from + offset * size_of(call.dtype);
    std::uint64_t where = 0;
    double by = 0;
    const auto wrong =
        Tolerance(call, ranks_, std::move(sources)).count_beyond(found, *piece.values, piece.count, &where, &by);
    if (wrong > 0 && verdict.wrong == 0) {
      verdict.first_wrong =
          fmt::format("element {} of the output is {}, expected {} or up to {:g} away", offset + where,
                      element_to_string(call.dtype, found + where * size_of(call.dtype)),
                      element_to_string(call.dtype, piece.values->element(where)), by);
    }
    verdict.wrong += wrong;
    offset += piece.count;
  }
}

void Workload::check_pieces(const std::vector<Piece>& pieces, const void* data, std::string_view what,
                            Verdict& verdict) const {
  const auto dtype = case_.call.dtype;
  const auto* from = static_cast<const std::byte*>(data);
  std::uint64_t offset = 0;
  for (const auto& piece : pieces) {
    std::uint64_t where = 0;
    const auto wrong = piece.values->count_wrong(from + offset * size_of(dtype), piece.first, piece.count, &where);
    if (wrong > 0 && verdict.wrong == 0) {
      verdict.first_wrong = fmt::format("element {} of the {} is {}, expected {}", offset + where, what,
                                        element_to_string(dtype, from + (offset + where) * size_of(dtype)),
                                        element_to_string(dtype, piece.values->element(piece.first + where)));
    }
    verdict.wrong += wrong;
    offset += piece.count;
  }
}

}  // namespace weft::bench
