// Calls of v-variants as tests make them: who sends how much to whom, where the blocks lie, what one rank gives and
// what it must get.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator_state.hpp"
#include "weft/operation.hpp"

namespace weft::testing {

using Counts = std::vector<std::uint64_t>;
using Values = std::vector<std::int32_t>;

inline constexpr std::int32_t kUntouched = -7;  // in outputs, where nothing is written

// How many elements go from one rank to another.
using Sizes = std::uint64_t (*)(int from, int to);

// The blocks of one buffer: counts, and where they lie.
struct Row {
  Counts counts;
  Counts offsets;
  std::uint64_t extent = 0;

  // `apart`: in reverse order with gaps between them.
  Row(Counts sizes, bool apart);
  Blocks blocks() const { return {counts.data(), offsets.data()}; }
};

// One rank's part in a call.
struct UnevenCall {
  Collective collective = Collective::AllGather;
  Sizes sizes = nullptr;
  int rank = 0;
  int size = 1;
  int root = 0;
  bool apart = false;  // blocks in reverse order with gaps between them
};

// What one rank of a call gives and must get.
class Side final {
 public:
  explicit Side(const UnevenCall& what);

  Operation call(const Values& in, Values& out) const;
  Values input() const;
  Values untouched() const;
  Values expected() const;

  bool reads_all() const;
  // The own block, and where it lies in the buffer of all.
  std::uint64_t own_count() const { return all().counts[static_cast<std::size_t>(what_.rank)]; }
  std::uint64_t own_offset() const { return all().offsets[static_cast<std::size_t>(what_.rank)]; }

 private:
  const Row& all() const { return reads_all() ? in_ : out_; }
  bool writes_all() const;
  std::uint64_t elements(int block, bool input) const;
  Counts row(bool input) const;
  std::int32_t given(int block, std::uint64_t index) const;
  std::int32_t result(int block, std::uint64_t index) const;

  UnevenCall what_;
  Row in_;
  Row out_;
};

// Makes the call on this rank; says what is wrong, and nothing if all is right. In place the own block already lies in
// the buffer of all.
std::string run_once(comm::CommunicatorState& communicator, const UnevenCall& what);
std::string run_in_place(comm::CommunicatorState& communicator, const UnevenCall& what);

}  // namespace weft::testing
