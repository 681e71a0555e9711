// The rules for the blocks of a v-variant, and the table of them that a plan is bound by.
#include "comm/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/assert.hpp"

namespace weft::comm {
namespace {

// Operation::count, where it is read.
std::uint64_t read_count(const Operation& operation, int rank) {
  const bool bounds = operation.collective == Collective::AllToAll;
  return bounds || (has_root(operation.collective) && operation.root != rank) ? operation.count : 0;
}

Status bad(const Operation& operation, std::string_view text) {
  return Status(Code::InvalidArgument, fmt::format("{}: {}", name_of(operation), text));
}

// Two blocks that overlap, or the same number twice.
std::pair<int, int> overlapping(const Blocks& blocks, int size) {
  if (blocks.offsets == nullptr) return {0, 0};
  std::vector<int> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](int block) { return blocks.counts[block] == 0; });
  std::sort(order.begin(), order.end(), [&](int a, int b) { return blocks.offsets[a] < blocks.offsets[b]; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const int before = order[i - 1];
    if (blocks.offsets[before] + blocks.counts[before] > blocks.offsets[order[i]]) return {before, order[i]};
  }
  return {0, 0};
}

Status check_row(const Operation& operation, std::string_view name, const Blocks& blocks, int size,
                 std::uint64_t limit) {
  if (blocks.counts == nullptr) {
    return bad(operation,
               fmt::format("{}.counts is null; give the elements of each of the {} ranks' blocks", name, size));
  }
  std::uint64_t end = 0;
  for (int block = 0; block < size; ++block) {
    const std::uint64_t count = blocks.counts[block];
    const std::uint64_t begin = blocks.offsets == nullptr ? end : blocks.offsets[block];
    if (count > limit || begin > limit || begin + count > limit) {
      return bad(operation, fmt::format("{} {} has {} elements at offset {}, which is beyond the {} elements that a "
                                        "buffer can have",
                                        name, block, count, begin, limit));
    }
    end = begin + count;
  }
  return {};
}

Status check_written(const Operation& operation, int size) {
  const auto [first, second] = overlapping(operation.out_blocks, size);
  if (first == second) return {};
  return bad(operation, fmt::format("out_blocks {} and {} overlap; offsets are in elements, not bytes", first, second));
}

Status check_all_to_all(const Operation& operation, int rank, int size) {
  const std::uint64_t sent = operation.in_blocks.counts[rank];
  const std::uint64_t received = operation.out_blocks.counts[rank];
  if (sent != received) {
    return bad(operation,
               fmt::format("rank {} sends {} elements to itself but wants to receive {}", rank, sent, received));
  }
  if (operation.count == 0) return {};
  for (const Blocks* blocks : {&operation.in_blocks, &operation.out_blocks}) {
    const std::uint64_t longest = *std::max_element(blocks->counts, blocks->counts + size);
    if (longest > operation.count)
      return bad(operation, fmt::format("a block has {} elements, but the bound is {}", longest, operation.count));
  }
  return {};
}

}  // namespace

bool has_in_blocks(const Operation& operation, int rank) {
  return operation.collective == Collective::ReduceScatter || operation.collective == Collective::AllToAll ||
         (operation.collective == Collective::Scatter && rank == operation.root);
}

bool has_out_blocks(const Operation& operation, int rank) {
  return operation.collective == Collective::AllGather || operation.collective == Collective::AllToAll ||
         (operation.collective == Collective::Gather && rank == operation.root);
}

Status check_blocks(const Operation& operation, int rank, int size, std::uint64_t limit) {
  switch (operation.collective) {
    case Collective::AllGather:
    case Collective::ReduceScatter:
    case Collective::AllToAll:
    case Collective::Gather:
    case Collective::Scatter:
      break;
    default:
      return bad(operation, "there is no such v-variant; only collectives with a block for each rank have one");
  }
  if (has_in_blocks(operation, rank)) WEFT_TRY(check_row(operation, "in_blocks", operation.in_blocks, size, limit));
  if (has_out_blocks(operation, rank)) {
    WEFT_TRY(check_row(operation, "out_blocks", operation.out_blocks, size, limit));
    WEFT_TRY(check_written(operation, size));
  }
  if (read_count(operation, rank) > limit / static_cast<std::uint64_t>(size)) {
    return bad(operation, fmt::format("count {} is more than the {} elements that {} ranks can handle", operation.count,
                                      limit / static_cast<std::uint64_t>(size), size));
  }
  return operation.collective == Collective::AllToAll ? check_all_to_all(operation, rank, size) : Status();
}

void flat_blocks(const Operation& operation, int rank, int size, std::vector<std::uint64_t>* flat) {
  const auto add = [&](const Blocks& blocks) {
    flat->push_back(blocks.offsets != nullptr);
    flat->insert(flat->end(), blocks.counts, blocks.counts + size);
    if (blocks.offsets != nullptr) flat->insert(flat->end(), blocks.offsets, blocks.offsets + size);
  };
  flat->assign(1, read_count(operation, rank));
  if (has_in_blocks(operation, rank)) add(operation.in_blocks);
  if (has_out_blocks(operation, rank)) add(operation.out_blocks);
}

std::uint64_t own_block_offset(const Operation& operation, int rank, int size) {
  if (operation.collective == Collective::AllToAll) return 0;
  const auto own = static_cast<std::size_t>(rank);
  if (has_in_blocks(operation, rank)) return BlockRow(operation.in_blocks, size).begins[own];
  return has_out_blocks(operation, rank) ? BlockRow(operation.out_blocks, size).begins[own] : 0;
}

bool may_share_memory(const Operation& operation, int rank, int size) {
  if (has_in_blocks(operation, rank)) {
    const auto [first, second] = overlapping(operation.in_blocks, size);
    if (first != second) return false;
  }
  return operation.collective != Collective::AllToAll ||
         BlockRow(operation.in_blocks, size) == BlockRow(operation.out_blocks, size);
}

BlockRow::BlockRow(const Blocks& blocks, int size) {
  std::uint64_t end = 0;
  for (int block = 0; block < size; ++block) {
    begins.push_back(blocks.offsets == nullptr ? end : blocks.offsets[block]);
    counts.push_back(blocks.counts[block]);
    end = begins.back() + counts.back();
  }
}

BlockTable::BlockTable(const Operation& operation, int rank, int size)
    : collective_(operation.collective), rank_(rank), size_(size), own_(operation.count) {
  if (has_in_blocks(operation, rank)) in_ = BlockRow(operation.in_blocks, size);
  if (has_out_blocks(operation, rank)) out_ = BlockRow(operation.out_blocks, size);
}

std::uint64_t BlockTable::count(int block) const {
  const auto at = [](const BlockRow& row, int index) { return row.counts[static_cast<std::size_t>(index)]; };
  if (collective_ == Collective::AllToAll) {
    if (block / size_ == rank_) return at(in_, block % size_);
    WEFT_ASSERT(block % size_ == rank_);
    return at(out_, block / size_);
  }
  if (!in_.counts.empty()) return at(in_, block);
  if (!out_.counts.empty()) return at(out_, block);
  WEFT_ASSERT(block == rank_);
  return own_;
}

std::uint64_t BlockTable::begin(Space space, int local_block) const {
  const BlockRow& row = space == Space::Input ? in_ : out_;
  return row.begins.empty() ? 0 : row.begins[static_cast<std::size_t>(local_block)];
}

}  // namespace weft::comm
