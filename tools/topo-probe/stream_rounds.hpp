// StreamRounds: streams between the hosts of a cluster, timed by rank 0: each alone, then all at once; TCP first, then
// RDMA from NIC to NIC. What fails, dies or is late ends one stream and is a remark about it; the others go on.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/deadline.hpp"
#include "mailbox.hpp"
#include "stream_message.hpp"
#include "topology/cluster/cluster.hpp"
#include "topology/measure/rdma_ports.hpp"
#include "topology/sources.hpp"

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

  // From each teller, whose node has a survey, to the next; of RDMA from each NIC to that of the same position.
  Status run(const std::vector<Teller>& tellers);

 private:
  struct End {
    Teller teller;
    topology::RdmaPort port;  // of RDMA
    std::string point;        // where it is, once it has said so
    bool ready = false;       // RDMA: it knows where the other is
    bool over = false;        // it has said its last word
  };
  struct Rate {
    double gbs = 0;
    double latency_us = 0;
  };
  struct Stream {
    const char* kind = topology::kTcp;
    End from;
    End to;
    bool at_once = false;
    bool told = false;         // why nothing was measured
    bool writing = false;      // RDMA: it was told to
    std::optional<Rate> rate;  // while the other end checks what came
  };
  using Round = std::vector<Stream>;
  using Key = std::pair<int, std::string>;
  static Key key(const End& end) { return {end.teller.rank, end.port.nic}; }

  static Round tcp_streams(const std::vector<Teller>& tellers);
  Round rdma_streams(const std::vector<Teller>& tellers) const;
  Status time_kind(Round streams, const Teller& first);
  Status time(const Round& round);
  Status open(const Stream& stream);
  Status wait();
  Status heard(int rank, const StreamMessage& message);
  Status tcp_heard(Stream& stream, End& end, const StreamMessage& message);
  Status rdma_heard(Stream& stream, End& end, const StreamMessage& message);
  Status write_together(bool late);
  Status died(int rank);
  Status fail(int number, Stream& stream, std::string_view why);
  Status close(int number, Stream& stream);
  Status say(const End& end, const StreamMessage& message);
  void add(const Stream& stream, double gbs, std::optional<double> latency_us);
  std::string name_of(const End& end) const;
  // Why a stream with this end need not be tried; empty if it may work.
  std::string hopeless(const End& end) const;

  Mailbox& mailbox_;
  base::Deadline deadline_;
  Tell tell_;
  std::set<int> dead_;
  std::vector<topology::cluster::ClusterNode>& nodes_;
  int next_number_ = 1;
  std::size_t left_out_ = 0;
  std::map<int, Stream> open_;  // by number: those of this round that are not over
  // By rank and NIC: ends that could not even be opened and why, and senders whose stream failed when it ran alone.
  std::map<Key, std::string> broken_;
  std::set<Key> failed_;
};

}  // namespace weft::topo_probe
