// One collective call of one size on one rank: its buffers, what goes in, what must come out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/weft-bench/buffer.hpp"
#include "bench/weft-bench/case.hpp"
#include "bench/weft-bench/pattern.hpp"
#include "weft/operation.hpp"

namespace weft::bench {

struct Verdict {
  std::uint64_t wrong = 0;  // elements, and bytes written where nothing may be written
  std::string first_wrong;  // for people; empty if nothing is wrong
};

struct Place {
  int rank = 0;
  int ranks = 1;
};
struct Buffers {
  Buffer& in;
  Buffer& out;
};

class Workload {
 public:
  // The buffers are big enough for the case on any rank. The pattern and the buffers outlive the workload.
  Workload(const Case& what, Place place, const Pattern& pattern, Buffers buffers);

  // The calls of this case with their buffers: one, or one for each root.
  const std::vector<Operation>& calls() const { return calls_; }

  // Contributions into the input, and into the output what is not the result of `call`.
  void fill(const Operation& call);
  // Zeros everywhere: numbers that neither grow nor get slow when they are reduced in place again and again.
  void clear();
  // After `call` ran on what fill() left.
  Verdict check(const Operation& call) const;

 private:
  struct Piece {
    const Sequence* values;
    std::uint64_t first;  // index in `values`
    std::uint64_t count;
  };
  std::uint64_t length(int block) const { return lengths_[static_cast<std::size_t>(block)]; }
  std::uint64_t begin(int block) const { return begins_[static_cast<std::size_t>(block)]; }
  Operation bound(const Operation& call) const;
  void bind_blocks(Operation& call) const;
  std::vector<Piece> input(const Operation& call) const;
  std::vector<Piece> output(const Operation& call) const;
  void check_quantised(const Operation& call, Verdict& verdict) const;
  void check_pieces(const std::vector<Piece>& pieces, const void* data, std::string_view what, Verdict& verdict) const;

  Case case_;
  int rank_;
  int ranks_;
  const Pattern& pattern_;
  Buffers buffers_;
  std::span<std::byte> in_bytes_;        // empty in place
  std::span<std::byte> out_bytes_;       // in place: the one buffer of input and output
  std::vector<std::uint64_t> lengths_;   // of blocks
  std::vector<std::uint64_t> begins_;    // where they lie, one behind the other
  std::vector<std::uint64_t> received_;  // of all_to_all: what comes from each rank
  std::vector<Operation> calls_;
};

}  // namespace weft::bench
