// UcxTransport and its connections.
#include "transports/ucx.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "transports/ucx_endpoint.hpp"

namespace weft::transports {

namespace {

constexpr std::string_view kHead = "weft-ucx 1\n";
// The engine cuts messages into slices of its own size; this bounds what one cancelled message can hold up.
constexpr std::size_t kMaxMessage = 4 * 1024 * 1024;

class UcxConnection final : public Connection {
 public:
  UcxConnection(UcxWorker& worker, std::unique_ptr<UcxPeer> peer, int self_rank)
      : worker_(worker), peer_(std::move(peer)), self_rank_(self_rank) {}
  UcxConnection(const UcxConnection&) = delete;
  UcxConnection& operator=(const UcxConnection&) = delete;
  ~UcxConnection() override { worker_.part(std::move(peer_)); }

  Result<std::unique_ptr<Endpoint>> open_lane(std::uint64_t lane) override {
    if (lane > kMaxTagLane) {
      return Status(
          Code::InvalidArgument,
          fmt::format("lane {:#x} has more than the {} bits that fit into UCX's tag: too many communicators were made, "
                      "or too many channels asked for",
                      lane, kTagLaneBits));
    }
    return std::unique_ptr<Endpoint>(std::make_unique<UcxEndpoint>(worker_, *peer_, self_rank_, lane));
  }

 private:
  UcxWorker& worker_;
  std::unique_ptr<UcxPeer> peer_;
  int self_rank_;
};

class UcxTransport final : public Transport {
 public:
  UcxTransport(std::unique_ptr<UcxWorker> worker, base::Usage usage) : worker_(std::move(worker)), usage_(usage) {}

  std::string_view name() const override { return "ucx"; }
  std::size_t max_message() const override { return kMaxMessage; }
  bool crosses_hosts() const override { return true; }
  std::string address() const override { return std::string(kHead) + worker_->address(); }
  bool reaches(std::string_view peer_address) override { return peer_address.starts_with(kHead); }

  Result<std::unique_ptr<Connection>> connect(int self_rank, int peer_rank, std::string_view peer_address,
                                              int /*deadline_ms*/) override {
    if (self_rank == peer_rank) return Status(Code::InvalidArgument, "a rank does not connect to itself");
    if (!reaches(peer_address)) {
      return Status(Code::InvalidArgument, fmt::format("rank {} gave no address of UCX", peer_rank), peer_rank);
    }
    if (std::max(self_rank, peer_rank) > kMaxTagSender) {
      return Status(Code::Unsupported, fmt::format("ranks above {} do not fit into UCX's tag", kMaxTagSender),
                    peer_rank);
    }
    peer_address.remove_prefix(kHead.size());
    WEFT_TRY_ASSIGN(auto peer, UcxPeer::connect(*worker_, peer_rank, peer_address));
    return std::unique_ptr<Connection>(std::make_unique<UcxConnection>(*worker_, std::move(peer), self_rank));
  }

  void retire(std::uint64_t lane, int bits) override {
    if (lane > kMaxTagLane) return;  // was never opened
    worker_->retire({.tag = lane_tag(0, lane), .mask = lanes_mask(bits)});
  }

  // Another thread that has the lock moves all lanes along.
  void poll() override {
    const std::unique_lock lock(worker_->mutex(), std::try_to_lock);
    if (lock.owns_lock()) worker_->progress();
  }

  // UCX tells nothing of itself: what the process had more of after it was started.
  base::Usage usage() override { return usage_; }

 private:
  std::unique_ptr<UcxWorker> worker_;
  base::Usage usage_;
};

}  // namespace

Result<std::unique_ptr<Transport>> make_ucx_transport(const UcxOptions& options) {
  const base::Usage before = base::usage_of_process();
  WEFT_TRY_ASSIGN(auto worker, UcxWorker::create(options.interface));
  const base::Usage after = base::usage_of_process();
  const base::Usage usage{.descriptors = std::max(0, after.descriptors - before.descriptors),
                          .threads = std::max(0, after.threads - before.threads)};
  return std::unique_ptr<Transport>(std::make_unique<UcxTransport>(std::move(worker), usage));
}

}  // namespace weft::transports
