// UcxEndpoint: one end of a lane over UCX's tag matching.
#pragma once

#include <array>
#include <cstdint>

#include "transports/transport.hpp"
#include "transports/ucx_tag.hpp"
#include "transports/ucx_worker.hpp"

namespace weft::transports {

class UcxEndpoint final : public Endpoint {
 public:
  static constexpr std::uint64_t kMaxOutstanding = 64;  // sends that UCX has not finished

  // `worker` and `peer` outlive the endpoint.
  UcxEndpoint(UcxWorker& worker, UcxPeer& peer, int self_rank, std::uint64_t lane)
      : worker_(worker),
        peer_(peer),
        lane_(lane),
        send_tag_(lane_tag(self_rank, lane)),
        receive_tag_(lane_tag(peer.rank(), lane)) {}
  UcxEndpoint(const UcxEndpoint&) = delete;
  UcxEndpoint& operator=(const UcxEndpoint&) = delete;
  ~UcxEndpoint() override;

  bool send(const void* data, std::size_t bytes, const Signature& signature) override;
  const void* receive(std::size_t bytes, void* landing, const Signature& expected) override;
  void release() override;
  std::uint64_t sends_done() override;
  bool unexpected(Unexpected* what) override;
  bool peek(Unexpected* what) override;
  Status failure() override;
  void cancel(int deadline_ms) override;

 private:
  enum class Receive : std::uint8_t { None, Posted, Arrived, Lent, Refused };

  // All under the worker's mutex.
  void post_receive(std::size_t bytes, void* landing, const Signature& expected);
  void test_receive();
  void judge(ucs_status_t status);
  void reap_sends();
  bool front(Unexpected* what);
  void end_requests(int deadline_ms);
  void abandon_requests();
  bool idle() const { return posted_ == done_ && receive_ != Receive::Posted; }

  UcxWorker& worker_;
  UcxPeer& peer_;
  std::uint64_t lane_;
  ucp_tag_t send_tag_;
  ucp_tag_t receive_tag_;
  bool cancelled_ = false;
  bool ending_ = false;  // requests are cancelled here: no fault of the connection

  // Sends posted_ - done_ are in flight; a null request is one that was done at once, behind others that are not.
  std::array<void*, kMaxOutstanding> sends_{};
  std::uint64_t posted_ = 0;
  std::uint64_t done_ = 0;

  Receive receive_ = Receive::None;
  void* receive_request_ = nullptr;
  void* landing_ = nullptr;
  std::size_t expected_bytes_ = 0;
  ucp_tag_t expected_tag_ = 0;
  Signature expected_;
  ucp_tag_recv_info_t info_{};
};

}  // namespace weft::transports
