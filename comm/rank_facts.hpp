// What one rank knows of itself and sees around it, as it tells rank 0 while the ranks agree.
#pragma once

#include <sched.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/loaded_schedules.hpp"
#include "transports/transport.hpp"
#include "weft/graph.hpp"
#include "weft/options.hpp"
#include "weft/status.hpp"

namespace weft::comm {

using Transports = std::vector<std::unique_ptr<transports::Transport>>;

// What one rank brings.
struct RankFacts {
  std::string host_id;  // equal: candidates for the same host
  std::string host_name;
  std::vector<int> cpus;                         // it may run on
  std::map<std::string, std::string> addresses;  // by transport
  std::vector<std::string> crosses_hosts;        // transports that do
  std::string table_digest;                      // of its measured table; empty: it was given none
  std::string schedules_digest;                  // of its schedule files; empty: it was given none

  bool operator==(const RankFacts&) const = default;
};

// What one rank sees, once it knows which is the first rank of its host.
struct RankView {
  std::vector<std::string> reaches_leader;  // transports that really reached that rank
  std::string graph;                        // JSON of the host's topology, from its first rank; empty from the others

  bool operator==(const RankView&) const = default;
};

std::string to_json(const RankFacts& facts);
Result<RankFacts> rank_facts_from_json(std::string_view text);
std::string to_json(const RankView& view);
Result<RankView> rank_view_from_json(std::string_view text);

// `table`: what own_table() read.
RankFacts own_facts(const Options& options, const Transports& transports, std::string_view table);

// The table of options.table_file as JSON; empty if there is none. An error names WEFT_TABLE.
Result<std::string> own_table(const Options& options);

// The files of options.schedule_files. An error names WEFT_SCHEDULES. On rank 0, whose schedules all use, they were
// proved: InvalidArgument names file, rank, channel and step of what is wrong.
Result<std::vector<algorithms::ScheduleText>> own_schedules(const Options& options);
// Of what the files hold, whatever they are called; empty if there are none.
std::string digest_of(const std::vector<algorithms::ScheduleText>& schedules);

std::vector<std::string> reached(const Transports& transports, const RankFacts& leader);

// The machine as options.topology_file describes it, or as it is. Whatever is wrong with the file is the caller's
// mistake: NotFound or InvalidArgument, and names WEFT_TOPOLOGY.
Result<topology::Graph> own_graph(const Options& options);

// As sched_getaffinity(): fills a set of `bytes` bytes and returns 0, or -1 with EINVAL in errno if that is too short.
using AffinityCall = std::function<int(std::size_t bytes, cpu_set_t* set)>;
// The CPUs in the set, however many there are.
std::vector<int> allowed_cpus(const AffinityCall& ask);

}  // namespace weft::comm
