// --hash: which bits come out of unruly inputs (unruly.hpp), so that runs with other algorithms, chunks, transports,
// places and sizes can be compared.
#pragma once

#include <cstdint>

#include "weft/communicator.hpp"

namespace weft::bench {

struct OutputHash {
  std::uint64_t hash = 0;    // of the output bytes of all ranks, in their order; equal on all ranks
  bool ranks_equal = false;  // whether all ranks' outputs are the same bytes
};

// Collective. Runs the call, whose buffers are set, on such inputs; of each rank's output the first `elements` count.
Result<OutputHash> hash_of_output(Communicator& communicator, const Operation& call, std::uint64_t elements);

}  // namespace weft::bench
