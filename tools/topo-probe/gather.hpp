// The two sides of a survey over the ranks of a job, joined by a store: rank 0 gathers, the others answer.
//
//   every rank -> rank 0             "host IDENTITY NAME"; ranks of one identity are of one host: its boot id, with
//                                    WEFT_HOST_ID after it
//   rank 0 -> one rank of each host  "survey", or "survey measure"
//   that rank -> rank 0              "survey {...}" or "failed REASON"
//   if streams are measured          what stream_agent.hpp says
//   rank 0 -> every other rank       "done"
//
// Rank 0 is one of the ranks: it asks and answers itself without the store. If the rank of a host dies before it told,
// another one of that host is asked. Every wait ends by the deadline; where streams are measured, hosts have three
// quarters of the time to tell, so that one that hangs does not take it all.
#pragma once

#include <functional>
#include <vector>

#include "base/deadline.hpp"
#include "topology/cluster/cluster.hpp"
#include "transports/store/store.hpp"
#include "weft/options.hpp"

namespace weft::topo_probe {

struct GatherOptions {
  base::Deadline deadline;
  int timeout_ms = 0;  // what the deadline was made of, for messages
  bool measure = false;
  std::function<Result<topology::Survey>(bool measure)> survey;  // of this host
};

// On rank 0. A rank that dies or does not answer by the deadline is a node that tells so.
Result<std::vector<topology::cluster::ClusterNode>> gather(transports::Store& store, const Options& options,
                                                           const GatherOptions& how);

// On the others, until rank 0 is done. Timeout if that does not come, PeerLost if rank 0 dies.
Status answer(transports::Store& store, const Options& options, const GatherOptions& how);

}  // namespace weft::topo_probe
