// --hash: which bits come out. Inputs are numbers whose sum depends on the order in which they are added: of all
// significant digits and mixed magnitudes, and a function of seed, rank and index only, so that runs with other
// algorithms, chunks, transports, places and sizes can be compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "weft/communicator.hpp"

namespace weft::bench {

// As many elements of the type as fit into `memory`, from index 0 on.
void write_unruly(std::span<std::byte> memory, DataType dtype, int rank);

struct OutputHash {
  std::uint64_t hash = 0;    // of the output bytes of all ranks, in their order; equal on all ranks
  bool ranks_equal = false;  // whether all ranks' outputs are the same bytes
};

// Collective. Runs the call, whose buffers are set, on such inputs; of each rank's output the first `elements` count.
Result<OutputHash> hash_of_output(Communicator& communicator, const Operation& call, std::uint64_t elements);

}  // namespace weft::bench
