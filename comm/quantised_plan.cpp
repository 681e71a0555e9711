// Cuts the blocks into channels and passes, and writes each pass as one program.
#include "comm/quantised_plan.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "algorithms/canonical_order.hpp"
#include "base/assert.hpp"
#include "comm/joined_program.hpp"
#include "comm/planner.hpp"
#include "comm/quantised_stages.hpp"

namespace weft::comm {
namespace {

// Enough for the wire to have work while channels pack, sum and unpack, and while messages that TCP announces before it
// carries them wait for an answer: between two hosts at 1 Gbit/s, 4 channels took 58 ms for 16 MiB, 8 took 53, 16
// took 47.
constexpr std::uint64_t kMaxChannels = 16;
// Blocks that go from one rank to another in a pass: messages of 16 KiB; with many ranks fewer, so that what a pass
// keeps of all of them is about half a MiB, three times.
constexpr std::uint64_t kMaxPartBlocks = 64;
constexpr std::uint64_t kMinPartBlocks = 16;
constexpr std::uint64_t kMaxPassBlocks = 2048;

constexpr std::uint64_t divided_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

// How a call is cut. A part is what one rank owns in a pass.
class Cut {
 public:
  Cut(const Operation& operation, int size)
      : count_(operation.count),
        parts_(operation.collective == Collective::AllReduce ? static_cast<std::uint64_t>(size) : 1),
        blocks_(divided_up(operation.count, kQuantisedBlock)) {
    const std::uint64_t fair = kMaxPassBlocks / static_cast<std::uint64_t>(size);
    most_ = parts_ * std::clamp(fair, kMinPartBlocks, kMaxPartBlocks);
    channels_ = std::clamp<std::uint64_t>(divided_up(blocks_, most_), 1, kMaxChannels);
  }

  std::uint64_t channels() const { return channels_; }
  // Of a rank's numbers, those of a channel.
  std::uint64_t first_element(std::uint64_t channel) const { return first_block(channel) * kQuantisedBlock; }
  std::uint64_t elements(std::uint64_t channel) const {
    return std::min(first_element(channel + 1), count_) - first_element(channel);
  }
  // Of a channel's, those of every pass but the last.
  std::uint64_t pass_elements(std::uint64_t channel) const {
    const std::uint64_t blocks = divided_up(elements(channel), kQuantisedBlock);
    const std::uint64_t passes = std::max<std::uint64_t>(1, divided_up(blocks, most_));
    return divided_up(divided_up(blocks, passes), parts_) * parts_ * kQuantisedBlock;
  }
  // Of so many elements, the blocks that one rank owns.
  std::uint64_t part_blocks(std::uint64_t elements) const {
    return divided_up(divided_up(elements, kQuantisedBlock), parts_);
  }

 private:
  std::uint64_t first_block(std::uint64_t channel) const {
    if (channel == channels_) return blocks_;
    return channel * (blocks_ / channels_) + channel * (blocks_ % channels_) / channels_;
  }

  std::uint64_t count_;
  std::uint64_t parts_;
  std::uint64_t blocks_;
  std::uint64_t most_ = 1;  // blocks of a pass
  std::uint64_t channels_ = 1;
};

Result<QuantisedStages> stages_of(Planner& planner, const Operation& operation, const QuantisedGrid& grid,
                                  const Cut& cut) {
  return QuantisedStages::create(planner, operation, grid,
                                 std::max<std::uint64_t>(1, cut.part_blocks(cut.pass_elements(0))),
                                 std::max<std::uint64_t>(1, cut.part_blocks(operation.count)));
}

BoundChannel bound(const Planner::Stage& stage, int place, const Operation& call, StageLanes lanes) {
  BoundPlan plan = bind(stage.schedule, place, call, lanes);
  WEFT_ASSERT(plan.channels.size() == 1);
  return std::move(plan.channels.front());
}

// Writes one rank's passes on one channel.
class PassWriter {
 public:
  PassWriter(const Operation& operation, const QuantisedGrid& grid, const Cut& cut, const QuantisedStages& stages,
             LaneDirectory& lanes, int channel)
      : operation_(operation), grid_(grid), cut_(cut), stages_(stages), lanes_(lanes), channel_(channel) {}

  BoundChannel write() const {
    const auto channel = static_cast<std::uint64_t>(channel_);
    const std::uint64_t all = cut_.elements(channel);
    if (all == 0) return {};
    const std::uint64_t first = cut_.first_element(channel);
    const std::uint64_t each = std::min(cut_.pass_elements(channel), all);
    const std::uint64_t before_last = (all - 1) / each;
    BoundChannel bound = pass(first, each);
    if (before_last == 0) return bound;
    bound.last_instructions = pass(first, all - before_last * each).instructions;
    bound.passes = static_cast<std::uint32_t>(before_last + 1);
    bound.pass_bytes = each * element_bytes();
    return bound;
  }

 private:
  std::uint64_t element_bytes() const { return size_of(operation_.dtype); }
  static JoinedPlace behind(JoinedPlace place, std::uint64_t bytes) { return {place.base, place.offset + bytes}; }
  StageLanes row() const { return {lanes_, grid_.row, channel_}; }
  StageLanes host() const { return {lanes_, grid_.host, channel_}; }

  BoundChannel pass(std::uint64_t first, std::uint64_t elements) const {
    const JoinedPlace values{Base::Input, first * element_bytes()};
    if (operation_.collective == Collective::AllGather) return gathered_pass(values, first, elements);
    // Of the host's sum this rank has a share, which is cut into a part for each rank of the row.
    const std::uint64_t blocks = cut_.part_blocks(elements);
    const std::uint64_t part = blocks * kPackedBlockBytes;
    const std::uint64_t share_blocks = blocks * grid_.row.size();
    const std::uint64_t share = share_blocks * kPackedBlockBytes;
    JoinedProgram program(lanes_);
    const JoinedPlace all = program.reserve(share * grid_.host.size());
    const JoinedPlace own_share = behind(all, share * static_cast<std::uint64_t>(grid_.host_place));
    const JoinedPlace own = behind(own_share, part * static_cast<std::uint64_t>(grid_.row_place));
    const JoinedPlace packed = program.reserve(share);
    const JoinedPlace parts = program.reserve(share);
    if (stages_.reduce) {
      const std::vector<std::uint64_t> counts = shares_of(elements, share_blocks * kQuantisedBlock);
      const JoinedPlace sums = program.reserve(share_blocks * kQuantisedBlock * element_bytes());
      const std::uint64_t own_count = counts[static_cast<std::size_t>(grid_.host_place)];
      program.stage(bound(*stages_.reduce, grid_.host_place, host_sum(operation_.dtype, counts), host()), values, sums);
      program.pack(packed, share_blocks, sums, own_count * element_bytes());
    } else {
      program.pack(packed, share_blocks, values, elements * element_bytes());
    }
    program.stage(bound(*stages_.exchange, grid_.row_place, packed_call(Collective::AllToAll, blocks), row()), packed,
                  parts);
    program.sum(own, blocks, parts, part);
    program.stage(bound(stages_.gather, grid_.row_place, packed_call(Collective::AllGather, blocks), row()), own,
                  own_share);
    if (stages_.spread) {
      const Operation call = packed_call(Collective::AllGather, share_blocks);
      program.stage(bound(*stages_.spread, grid_.host_place, call, host()), own_share, all);
      program.wait_for_sends();  // those of the first stage read the input, which may be the output
    }
    program.unpack({Base::Output, first * element_bytes()}, elements * element_bytes(), all);
    return program.take();
  }

  // Of `elements`, those in each share of `most`.
  std::vector<std::uint64_t> shares_of(std::uint64_t elements, std::uint64_t most) const {
    std::vector<std::uint64_t> counts;
    for (std::size_t place = 0; place < grid_.host.size(); ++place) {
      counts.push_back(std::min(elements, most));
      elements -= counts.back();
    }
    return counts;
  }

  BoundChannel gathered_pass(JoinedPlace values, std::uint64_t first, std::uint64_t elements) const {
    const std::uint64_t blocks = cut_.part_blocks(elements);
    const std::uint64_t part = blocks * kPackedBlockBytes;
    JoinedProgram program(lanes_);
    const JoinedPlace all = program.reserve(part * grid_.row.size());
    const JoinedPlace own = behind(all, part * static_cast<std::uint64_t>(grid_.row_place));
    program.pack(own, blocks, values, elements * element_bytes());
    program.stage(bound(stages_.gather, grid_.row_place, packed_call(Collective::AllGather, blocks), row()), own, all);
    for (std::uint64_t from = 0; from < grid_.row.size(); ++from) {
      const JoinedPlace out{Base::Output, (from * operation_.count + first) * element_bytes()};
      program.unpack(out, elements * element_bytes(), behind(all, part * from));
    }
    return program.take();
  }

  const Operation& operation_;
  const QuantisedGrid& grid_;
  const Cut& cut_;
  const QuantisedStages& stages_;
  LaneDirectory& lanes_;
  int channel_;
};

QuantisedParts parts_of(const Operation& operation, const QuantisedGrid& grid, int size) {
  QuantisedParts parts{quantise_kernels(operation.dtype, operation.quantisation), {}, 1};
  if (operation.collective != Collective::AllReduce) return parts;
  const auto values = static_cast<int>(grid.row.size());
  for (int place = 0; place < values; ++place)
    parts.joins.push_back(static_cast<std::uint8_t>(algorithms::joins_after(place, values)));
  if (operation.op == ReduceOp::Avg) parts.divisor = static_cast<float>(size);
  return parts;
}

}  // namespace

Result<Choice> choose_quantised(Planner& planner, const Operation& operation) {
  const int size = planner.group().size;
  const Cut cut(operation, size);
  WEFT_TRY_ASSIGN(const QuantisedStages stages,
                  stages_of(planner, operation, QuantisedGrid::create(planner, operation, 0), cut));
  Choice choice;
  choice.collective = operation.collective;
  choice.ranks = size;
  choice.bytes = message_bytes(operation, size);
  choice.source = ChoiceSource::Only;
  choice.reason = stages.reason(operation);
  Candidate winner;
  winner.algorithm = stages.name(operation);
  winner.channels = static_cast<int>(cut.channels());
  winner.estimate_ns = stages.estimate_ns;
  winner.note = "without the time to pack, sum and unpack";
  choice.candidates.push_back(std::move(winner));
  return choice;
}

Result<std::unique_ptr<BoundPlan>> plan_quantised(Planner& planner, const Operation& operation, int rank,
                                                  LaneDirectory& lanes) {
  const int size = planner.group().size;
  const Cut cut(operation, size);
  const QuantisedGrid grid = QuantisedGrid::create(planner, operation, rank);
  WEFT_TRY_ASSIGN(const QuantisedStages stages, stages_of(planner, operation, grid, cut));
  auto plan = std::make_unique<BoundPlan>();
  plan->element_shift = size_of(operation.dtype) == sizeof(float) ? 2 : 1;
  plan->quantised = parts_of(operation, grid, size);
  plan->hash = stages.hash() + cut.pass_elements(0);
  for (int channel = 0; channel < static_cast<int>(cut.channels()); ++channel)
    plan->channels.push_back(PassWriter(operation, grid, cut, stages, lanes, channel).write());
  return plan;
}

}  // namespace weft::comm
