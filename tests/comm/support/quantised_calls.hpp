// What the tests of quantised calls put in, and what must come out, bit by bit and within the bound of error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/comm/support/thread_ranks.hpp"
#include "weft/operation.hpp"

namespace weft::testing {

// Numbers of rank `rank`: every significand, exponents that differ by 2^40 within a block and from block to block. The
// first elements do not depend on how many there are.
std::vector<std::byte> unruly_numbers(DataType dtype, std::uint64_t count, int rank, std::uint64_t seed);
std::vector<double> as_doubles(DataType dtype, const std::vector<std::byte>& bytes);

// The result of a quantised call on inputs of all ranks: packed and summed as a whole, on no other ranks and in no
// passes.
std::vector<std::byte> quantised_reference(const Operation& call, const std::vector<std::vector<std::byte>>& inputs);

// How a result keeps to the bound, in words; empty if it does.
std::string beyond_the_bound(const Operation& call, const std::vector<std::vector<std::byte>>& inputs,
                             const std::vector<std::byte>& result);

// Bits: those of the reference, or only the same on all ranks.
enum class Bits { OfTheReference, OfAllRanks };

// Runs the call on this rank with unruly numbers, in or out of place, and compares with the bound, too; empty if all is
// well.
std::string run_quantised(comm::CommunicatorState& communicator, Operation call, bool in_place, std::uint64_t seed,
                          Bits bits = Bits::OfTheReference);

}  // namespace weft::testing
