// BoundPlan: a schedule's program for one rank, bound to element count, type and lanes: what the engine runs.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/instruction.hpp"
#include "comm/kernels/kernels.hpp"
#include "comm/kernels/quantise.hpp"
#include "transports/transport.hpp"
#include "weft/choice.hpp"
#include "weft/operation.hpp"
#include "weft/schedule.hpp"

namespace weft::comm {

// A channel goes through its instructions once, or, where blocks are long, in several passes, each over the next part
// of every block: so what is at work stays in the caches, and several channels are at different steps at a time. One
// pass ends, with all its sends handed over, before the next begins: each is a run of the proved schedule.
struct BoundChannel {
  std::vector<Instruction> instructions;       // of every pass but the last of several
  std::vector<Instruction> last_instructions;  // that may be shorter
  std::uint32_t passes = 1;
  std::uint64_t pass_bytes = 0;         // how much further into both buffers the next pass is
  std::vector<std::uint16_t> lanes;     // every lane the instructions name, each once
  std::vector<std::uint32_t> messages;  // by position in `lanes`: how many sends the channel queues on it at most
  std::uint64_t scratch_bytes = 0;
  transports::Traffic traffic = transports::Traffic::OneWay;
  bool sends_scratch = false;  // a pass must not begin while the one before it may still be read there

  const std::vector<Instruction>& of_pass(bool last) const {
    return last && passes > 1 ? last_instructions : instructions;
  }
};

// How a plan's blocks are cut into passes.
struct Passes {
  int replicas = 1;               // of the algorithm, in the schedule
  std::uint64_t chunk_bytes = 0;  // a chunk is this long at most, about; 0: one pass
};

// Of a quantised call.
struct QuantisedParts {
  QuantiseKernels kernels;
  std::vector<std::uint8_t> joins;  // of SumOrder
  float divisor = 1;
};

struct BoundPlan {
  Choice choice;
  std::vector<BoundChannel> channels;
  std::uint32_t element_shift = 0;      // an element is 1 << element_shift bytes
  ReduceKernel reduce = nullptr;        // every reduction but an element's last
  ReduceKernel reduce_final = nullptr;  // the last: Avg scales here
  std::intptr_t parameter = 1;          // of both: ranks, for Avg; of a user's operator, where it lies
  bool streaming = false;               // the output is larger than the caches: written past them
  QuantisedParts quantised;
  // Of every message: the sequence is added per operation.
  std::uint32_t call = 0;
  std::uint64_t hash = 0;
  std::uint64_t count = 0;     // agreed_count(), for reports
  std::int32_t in_flight = 0;  // operations that run it now
};

// What the plan takes, with its choice.
std::uint64_t memory_bytes(const BoundPlan& plan);

// Tells bind() which lane leads to a peer on a channel, and how that lane cuts messages.
class LaneDirectory {
 public:
  virtual ~LaneDirectory() = default;
  virtual std::uint16_t lane(int peer, int channel) = 0;
  virtual std::uint32_t slices(std::uint16_t lane, std::uint64_t bytes) const = 0;
};

// Whether a call is long enough for several passes on some channel.
bool in_several_passes(const Operation& operation, int chunks_per_block, const Passes& passes);

// `schedule` has rank's steps; if the call is in several passes, it was built for uneven blocks, so that its scratch
// holds the chunks that it is said to hold. The plan's choice, call, hash and kernels are the caller's to fill.
// `swapped`: by channel and step, whether the operands of a reduction change places; null: none.
BoundPlan bind(const Schedule& schedule, int rank, const Operation& operation, LaneDirectory& lanes,
               const Passes& passes = {}, const std::vector<std::vector<bool>>* swapped = nullptr);

}  // namespace weft::comm
