// What a rank knows of the blocks of a v-variant: whether they make sense, how long they are and where they lie.
#pragma once

#include <cstdint>
#include <vector>

#include "weft/operation.hpp"
#include "weft/schedule.hpp"
#include "weft/status.hpp"

namespace weft::comm {

// Whether the call reads these on this rank.
bool has_in_blocks(const Operation& operation, int rank);
bool has_out_blocks(const Operation& operation, int rank);

// InvalidArgument names the block and the remedy; no count and no offset may exceed `limit`. Only for an operation that
// is uneven. Looks at the arrays.
Status check_blocks(const Operation& operation, int rank, int size, std::uint64_t limit);

// All that tells one call's blocks from another's on this rank, in one row.
void flat_blocks(const Operation& operation, int rank, int size, std::vector<std::uint64_t>* flat);

// Where the own block lies in the buffer of all, in elements; of all_to_all 0.
std::uint64_t own_block_offset(const Operation& operation, int rank, int size);
// Whether the two buffers may be one: blocks of the input, which is then written, lie apart, and of all_to_all those of
// both buffers are the same.
bool may_share_memory(const Operation& operation, int rank, int size);

// The blocks of one buffer.
struct BlockRow {
  std::vector<std::uint64_t> counts;
  std::vector<std::uint64_t> begins;

  BlockRow() = default;
  BlockRow(const Blocks& blocks, int size);
  bool operator==(const BlockRow&) const = default;
};

class BlockTable final {
 public:
  BlockTable(const Operation& operation, int rank, int size);

  // Elements of a logical block (see Layout), one that is in this rank's buffers.
  std::uint64_t count(int block) const;
  // Where a rank's block of a space begins, in elements. Blocks count as Layout's local chunks do, for one chunk a
  // block.
  std::uint64_t begin(Space space, int local_block) const;

 private:
  Collective collective_;
  int rank_;
  int size_;
  std::uint64_t own_ = 0;
  BlockRow in_;   // empty where the input is the own block
  BlockRow out_;  // the same of the output
};

}  // namespace weft::comm
