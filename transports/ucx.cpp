// UcxTransport and its connections.
#include "transports/ucx.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "base/socket.hpp"
#include "transports/ucx_address.hpp"
#include "transports/ucx_endpoint.hpp"
#include "transports/ucx_striped_endpoint.hpp"

namespace weft::transports {

namespace {

// The engine cuts messages into slices of its own size; this bounds what one cancelled message can hold up.
constexpr std::size_t kMaxMessage = 4 * 1024 * 1024;

struct Rail {
  UcxWorker& worker;
  std::unique_ptr<UcxPeer> peer;
};

class UcxConnection final : public Connection {
 public:
  UcxConnection(std::vector<Rail> rails, int self_rank) : rails_(std::move(rails)), self_rank_(self_rank) {}
  UcxConnection(const UcxConnection&) = delete;
  UcxConnection& operator=(const UcxConnection&) = delete;
  ~UcxConnection() override {
    for (Rail& rail : rails_) rail.worker.part(std::move(rail.peer));
  }

  Result<std::unique_ptr<Endpoint>> open_lane(std::uint64_t lane) override {
    if (lane > kMaxTagLane) {
      return Status(
          Code::InvalidArgument,
          fmt::format("lane {:#x} has more than the {} bits that fit into UCX's tag: too many communicators were made, "
                      "or too many channels asked for",
                      lane, kTagLaneBits));
    }
    std::vector<std::unique_ptr<Endpoint>> ends;
    for (const Rail& rail : rails_)
      ends.push_back(std::make_unique<UcxEndpoint>(rail.worker, *rail.peer, self_rank_, lane));
    if (ends.size() == 1) return std::move(ends.front());
    return std::unique_ptr<Endpoint>(std::make_unique<UcxStripedEndpoint>(std::move(ends)));
  }

 private:
  std::vector<Rail> rails_;
  int self_rank_;
};

class UcxTransport final : public Transport {
 public:
  UcxTransport(std::vector<std::unique_ptr<UcxWorker>> rails, base::Usage usage)
      : rails_(std::move(rails)), usage_(usage) {}
  UcxTransport(const UcxTransport&) = delete;
  UcxTransport& operator=(const UcxTransport&) = delete;
  ~UcxTransport() override { UcxWorker::wait_for_parted(rails_); }

  std::string_view name() const override { return "ucx"; }
  std::size_t max_message() const override { return kMaxMessage; }
  bool crosses_hosts() const override { return true; }
  std::string address() const override {
    std::vector<std::string> addresses;
    for (const auto& rail : rails_) addresses.push_back(rail->address());
    return write_ucx_address(addresses);
  }
  bool reaches(std::string_view peer_address) override { return peer_address.starts_with(kUcxHead); }

  Result<std::unique_ptr<Connection>> connect(int self_rank, int peer_rank, std::string_view peer_address,
                                              int /*deadline_ms*/) override {
    if (self_rank == peer_rank) return Status(Code::InvalidArgument, "a rank does not connect to itself");
    const auto addresses = read_ucx_address(peer_address);
    if (addresses.empty()) {
      return Status(Code::InvalidArgument, fmt::format("rank {} gave no address of UCX", peer_rank), peer_rank);
    }
    if (std::max(self_rank, peer_rank) > kMaxTagSender) {
      return Status(Code::Unsupported, fmt::format("ranks above {} do not fit into UCX's tag", kMaxTagSender),
                    peer_rank);
    }
    // Both sides take as many as the one that has fewer, and pair them in order.
    std::vector<Rail> rails;
    for (std::size_t rail = 0; rail < std::min(rails_.size(), addresses.size()); ++rail) {
      WEFT_TRY_ASSIGN(auto peer, UcxPeer::connect(*rails_[rail], peer_rank, addresses[rail]));
      rails.push_back({*rails_[rail], std::move(peer)});
    }
    return std::unique_ptr<Connection>(std::make_unique<UcxConnection>(std::move(rails), self_rank));
  }

  void retire(std::uint64_t lane, int bits) override {
    if (lane > kMaxTagLane) return;  // was never opened
    for (const auto& rail : rails_) rail->retire({.tag = lane_tag(0, lane), .mask = lanes_mask(bits)});
  }

  // Another thread that has the lock moves all lanes along.
  void poll() override {
    for (const auto& rail : rails_) {
      const std::unique_lock lock(rail->mutex(), std::try_to_lock);
      if (lock.owns_lock()) rail->progress();
    }
  }

  // UCX tells nothing of itself: what the process had more of after it was started.
  base::Usage usage() override { return usage_; }

 private:
  std::vector<std::unique_ptr<UcxWorker>> rails_;
  base::Usage usage_;
};

// A worker for each interface; where UCX's own variable names devices, it is UCX that divides messages among them.
Result<std::vector<std::unique_ptr<UcxWorker>>> make_rails(const std::string& interfaces) {
  auto names = base::interface_names(interfaces);
  if (names.empty()) names.emplace_back();
  if (std::getenv("UCX_NET_DEVICES") != nullptr) names.resize(1);
  std::vector<std::unique_ptr<UcxWorker>> rails;
  for (const std::string& name : names) {
    WEFT_TRY_ASSIGN(auto rail, UcxWorker::create(name));
    rails.push_back(std::move(rail));
  }
  return rails;
}

}  // namespace

Result<std::unique_ptr<Transport>> make_ucx_transport(const UcxOptions& options) {
  const base::Usage before = base::usage_of_process();
  WEFT_TRY_ASSIGN(auto rails, make_rails(options.interface));
  if (rails.size() > 1 && options.note)
    options.note(fmt::format("ucx sends long messages over {} rails at once: {}", rails.size(), options.interface));
  const base::Usage after = base::usage_of_process();
  const base::Usage usage{.descriptors = std::max(0, after.descriptors - before.descriptors),
                          .threads = std::max(0, after.threads - before.threads)};
  return std::unique_ptr<Transport>(std::make_unique<UcxTransport>(std::move(rails), usage));
}

}  // namespace weft::transports
