// StreamRounds: streams between the hosts of a cluster, timed by rank 0: each alone, then all at once. What fails, dies
// or is late ends one stream and is a remark about it; the others go on.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/deadline.hpp"
#include "mailbox.hpp"
#include "stream_message.hpp"
#include "topology/cluster/cluster.hpp"

namespace weft::topo_probe {

// The rank that told of a node.
struct Teller {
  int rank = 0;
  std::size_t node = 0;  // position
};

class StreamRounds {
 public:
  using Tell = std::function<Status(int rank, const std::string& message)>;

  // `dead`: ranks that are gone already. Results and remarks are added to the nodes.
  StreamRounds(Mailbox& mailbox, base::Deadline deadline, Tell tell, std::set<int> dead,
               std::vector<topology::cluster::ClusterNode>& nodes)
      : mailbox_(mailbox), deadline_(deadline), tell_(std::move(tell)), dead_(std::move(dead)), nodes_(nodes) {}

  // From each teller, whose node has a survey, to the next.
  Status run(const std::vector<Teller>& tellers);

 private:
  struct Stream {
    Teller from;
    Teller to;
    bool at_once = false;
    bool sending = false;   // the sender was told to send
    bool sent = false;      // the sender has said its last word
    bool received = false;  // the receiver has
    bool refused = false;   // it is told why nothing was measured
  };
  using Round = std::vector<Stream>;

  Status time(const Round& round);
  Status open(const Stream& stream);
  Status wait();
  Status heard(int rank, const StreamMessage& message);
  Status died(int rank);
  Status fail(int number, Stream& stream, std::string_view why);
  std::string who(const Teller& teller) const;

  Mailbox& mailbox_;
  base::Deadline deadline_;
  Tell tell_;
  std::set<int> dead_;
  std::vector<topology::cluster::ClusterNode>& nodes_;
  int next_number_ = 1;
  std::size_t left_out_ = 0;
  std::map<int, Stream> open_;  // by number: those of this round that are not over
};

}  // namespace weft::topo_probe
