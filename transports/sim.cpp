// SimHub: ranks, and lanes by pair and number.
#include "transports/sim.hpp"

#include <algorithm>
#include <list>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "transports/nonce.hpp"
#include "transports/sim_lane.hpp"

namespace weft::transports {

namespace {

class Hub final : public SimHub, public SimLanes {
 public:
  explicit Hub(const SimOptions& options) : options_(options) {}

  std::unique_ptr<Transport> transport(int rank) override;
  void kill(int rank) override { this->rank(rank).dead.store(true); }

  const SimOptions& options() const { return options_; }
  std::string address() const { return "weft-sim " + to_hex(nonce_); }
  SimRank& rank(int number) {
    const std::lock_guard lock(mutex_);
    return ranks_[number];
  }
  SimLane& open(int self_rank, int peer_rank, std::uint64_t id) override;
  void close(SimLane& lane, int self_rank, int peer_rank) override;

 private:
  SimOptions options_;
  Nonce nonce_ = random_nonce();
  std::mutex mutex_;
  std::map<int, SimRank> ranks_;
  std::map<std::pair<int, int>, std::list<SimLane>> lanes_;
};

SimLane& Hub::open(int self_rank, int peer_rank, std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto side = static_cast<std::size_t>(self_rank < peer_rank ? 0 : 1);
  std::list<SimLane>& lanes = lanes_[std::minmax(self_rank, peer_rank)];
  const auto waiting = [&](const SimLane& lane) { return lane.id == id && !lane.opened[side]; };
  auto found = std::find_if(lanes.begin(), lanes.end(), waiting);
  if (found == lanes.end()) {
    lanes.emplace_back(id);
    found = std::prev(lanes.end());
  }
  found->opened[side] = true;
  return *found;
}

void Hub::close(SimLane& lane, int self_rank, int peer_rank) {
  const std::lock_guard lock(mutex_);
  {
    const std::lock_guard lane_lock(lane.mutex);
    lane.closed[self_rank < peer_rank ? 0 : 1] = true;
  }
  if (lane.closed[0] && lane.closed[1]) {
    lanes_[std::minmax(self_rank, peer_rank)].remove_if([&](const SimLane& other) { return &other == &lane; });
  }
}

class SimConnection final : public Connection {
 public:
  SimConnection(Hub& hub, const SimEndpoint::Place& place) : hub_(hub), place_(place) {}
  Result<std::unique_ptr<Endpoint>> open_lane(std::uint64_t lane) override {
    return std::unique_ptr<Endpoint>(std::make_unique<SimEndpoint>(hub_.options(), hub_, place_, lane));
  }

 private:
  Hub& hub_;
  SimEndpoint::Place place_;
};

class SimTransport final : public Transport {
 public:
  SimTransport(Hub& hub, int rank) : hub_(hub), rank_(rank) {}
  SimTransport(const SimTransport&) = delete;
  SimTransport& operator=(const SimTransport&) = delete;
  ~SimTransport() override { hub_.kill(rank_); }  // as the end of a process would

  std::string_view name() const override { return "sim"; }
  std::size_t max_message() const override { return hub_.options().max_message; }
  bool crosses_hosts() const override { return true; }
  std::string address() const override { return hub_.address(); }
  bool reaches(std::string_view peer_address) override { return peer_address == hub_.address(); }
  Result<std::unique_ptr<Connection>> connect(int self_rank, int peer_rank, std::string_view peer_address,
                                              int /*deadline_ms*/) override {
    if (self_rank == peer_rank) return Status(Code::InvalidArgument, "a rank does not connect to itself");
    if (!reaches(peer_address)) {
      return Status(Code::InvalidArgument, fmt::format("rank {} is not of this simulation", peer_rank), peer_rank);
    }
    const SimEndpoint::Place place{self_rank, peer_rank, hub_.rank(self_rank), hub_.rank(peer_rank)};
    return std::unique_ptr<Connection>(std::make_unique<SimConnection>(hub_, place));
  }
  void poll() override {}

 private:
  Hub& hub_;
  int rank_;
};

std::unique_ptr<Transport> Hub::transport(int rank) { return std::make_unique<SimTransport>(*this, rank); }

}  // namespace

std::unique_ptr<SimHub> SimHub::create(const SimOptions& options) { return std::make_unique<Hub>(options); }

}  // namespace weft::transports
