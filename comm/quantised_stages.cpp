// Who exchanges with whom, and which schedules do it.
#include "comm/quantised_stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "comm/kernels/quantise.hpp"
#include "comm/mix.hpp"

namespace weft::comm {
namespace {

// Where a rank stands among ranks of which it is one.
int place_of(int rank, const std::vector<int>& among) {
  return static_cast<int>(std::find(among.begin(), among.end(), rank) - among.begin());
}

bool hosts_matter(const Planner& planner, const Operation& operation) {
  const std::vector<std::vector<int>>& hosts = planner.group().hosts;
  // Numbers of 16 bits would be rounded at every step within the host.
  if (operation.collective != Collective::AllReduce || operation.dtype != DataType::Float32) return false;
  if (planner.numerics() == Numerics::Invariant || hosts.size() < 2 || hosts.front().size() < 2) return false;
  return std::all_of(hosts.begin(), hosts.end(),
                     [&](const std::vector<int>& host) { return host.size() == hosts.front().size(); });
}

std::vector<int> row_of(const Group& group, int place) {
  std::vector<int> row;
  for (const std::vector<int>& host : group.hosts) row.push_back(host[static_cast<std::size_t>(place)]);
  return row;
}

// A stage of some ranks, and its time added.
struct StageMaker {
  std::int64_t* estimate_ns;

  Result<Planner::Stage> make(Planner& planner, const Operation& call, bool in_place, int place,
                              const Operation& estimated) const {
    WEFT_TRY_ASSIGN(Planner::Stage stage, planner.stage(call, in_place, place));
    WEFT_TRY_ASSIGN(const std::int64_t time_ns, planner.estimate(stage, estimated));
    *estimate_ns += time_ns;
    return stage;
  }
};

}  // namespace

Operation packed_call(Collective collective, std::uint64_t blocks) {
  Operation call;
  call.collective = collective;
  call.dtype = DataType::UInt8;
  call.count = blocks * kPackedBlockBytes;
  return call;
}

Operation host_sum(DataType dtype, const std::vector<std::uint64_t>& counts) {
  return reduce_scatter_v(nullptr, {counts.data(), nullptr}, nullptr, dtype);
}

QuantisedGrid QuantisedGrid::create(const Planner& planner, const Operation& operation, int rank) {
  const Group& group = planner.group();
  QuantisedGrid grid;
  if (!hosts_matter(planner, operation)) {
    grid.row.resize(static_cast<std::size_t>(group.size));
    std::iota(grid.row.begin(), grid.row.end(), 0);
    grid.row_place = rank;
    grid.host = {rank};
    return grid;
  }
  for (const std::vector<int>& host : group.hosts) {
    const int place = place_of(rank, host);
    if (place == static_cast<int>(host.size())) continue;
    grid.host = host;
    grid.host_place = place;
    grid.row = row_of(group, place);
    grid.row_place = place_of(rank, grid.row);
  }
  return grid;
}

Result<QuantisedStages> QuantisedStages::create(Planner& planner, const Operation& operation, const QuantisedGrid& grid,
                                                std::uint64_t blocks, std::uint64_t estimated_blocks) {
  QuantisedStages stages;
  const StageMaker maker{&stages.estimate_ns};
  Planner* row = &planner;
  Planner* host = nullptr;
  if (grid.by_hosts()) {
    WEFT_TRY_ASSIGN(row, planner.part(row_of(planner.group(), 0)));
    WEFT_TRY_ASSIGN(host, planner.part(planner.group().hosts.front()));
    const auto of_a_host = [&](std::uint64_t part) {
      return std::vector<std::uint64_t>(grid.host.size(), part * grid.row.size() * kQuantisedBlock);
    };
    const std::vector<std::uint64_t> counts = of_a_host(blocks);
    const std::vector<std::uint64_t> estimated = of_a_host(estimated_blocks);
    WEFT_TRY_ASSIGN(stages.reduce, maker.make(*host, host_sum(operation.dtype, counts), false, grid.host_place,
                                              host_sum(operation.dtype, estimated)));
  }
  if (operation.collective == Collective::AllReduce) {
    WEFT_TRY_ASSIGN(stages.exchange, maker.make(*row, packed_call(Collective::AllToAll, blocks), false, grid.row_place,
                                                packed_call(Collective::AllToAll, estimated_blocks)));
  }
  // The own part is where the gathered ones go.
  WEFT_TRY_ASSIGN(stages.gather, maker.make(*row, packed_call(Collective::AllGather, blocks), true, grid.row_place,
                                            packed_call(Collective::AllGather, estimated_blocks)));
  if (host != nullptr) {
    const std::uint64_t share = grid.row.size();
    WEFT_TRY_ASSIGN(stages.spread,
                    maker.make(*host, packed_call(Collective::AllGather, blocks * share), true, grid.host_place,
                               packed_call(Collective::AllGather, estimated_blocks * share)));
  }
  return stages;
}

std::string QuantisedStages::name(const Operation& operation) const {
  std::string text = fmt::format("{}:", to_string(operation.quantisation));
  if (reduce) text += "hosts:";
  if (exchange) text += exchange->schedule.algorithm + "+";
  return text + gather.schedule.algorithm;
}

std::string QuantisedStages::reason(const Operation& operation) const {
  std::string text =
      fmt::format("numbers travel as {} in blocks of {}", to_string(operation.quantisation), kQuantisedBlock);
  if (reduce)
    text += fmt::format(" between hosts, summed within them by reduce_scatter/{}", reduce->schedule.algorithm);
  if (exchange)
    text += fmt::format("; all_to_all/{} takes them to the rank that sums them", exchange->schedule.algorithm);
  text += fmt::format("; all_gather/{} hands them out", gather.schedule.algorithm);
  if (spread) text += fmt::format(", within hosts all_gather/{}", spread->schedule.algorithm);
  return text;
}

std::uint64_t QuantisedStages::hash() const {
  std::uint64_t hash = gather.schedule.program_hash;
  for (const std::optional<Planner::Stage>* stage : {&reduce, &exchange, &spread})
    hash = mix(hash, *stage ? (*stage)->schedule.program_hash : 1);
  return hash;
}

}  // namespace weft::comm
