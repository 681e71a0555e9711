// Requests of a lane: posted, tested, cancelled.
#include "transports/ucx_endpoint.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/deadline.hpp"

namespace weft::transports {

namespace {

constexpr int kDestructorDeadlineMs = 2'000;
// How long a cancelled send may take to finish before its connection is given up, which other lanes share.
constexpr int kCancelGraceMs = 500;

}  // namespace

UcxEndpoint::~UcxEndpoint() {
  const std::lock_guard lock(worker_.mutex());
  end_requests(kDestructorDeadlineMs);
  worker_.drop({.tag = receive_tag_, .mask = kTagMatchMask});  // nobody took it; it would meet the lane's next opening
}

bool UcxEndpoint::send(const void* data, std::size_t bytes, const Signature& signature) {
  const std::lock_guard lock(worker_.mutex());
  if (cancelled_ || worker_.halted() || peer_.status() != UCS_OK) return false;
  if (posted_ - done_ == kMaxOutstanding) {
    reap_sends();
    if (posted_ - done_ == kMaxOutstanding) return false;
  }
  const ucp_request_param_t param = host_memory();
  void* request = ucp_tag_send_nbx(peer_.handle(), data, bytes, send_tag_ | signature_digest(signature), &param);
  if (UCS_PTR_IS_ERR(request)) {
    peer_.fail(UCS_PTR_STATUS(request));
    return false;
  }
  peer_.sent();
  sends_[posted_++ % kMaxOutstanding] = request;
  if (posted_ - done_ == 1 && request == nullptr) ++done_;
  return true;
}

void UcxEndpoint::reap_sends() {
  while (done_ < posted_) {
    void*& request = sends_[done_ % kMaxOutstanding];
    if (request != nullptr) {
      const ucs_status_t status = ucp_request_check_status(request);
      if (status == UCS_INPROGRESS) return;
      ucp_request_free(request);
      request = nullptr;
      if (status != UCS_OK) peer_.fail(status);  // counted as done all the same: it no longer reads its source
    }
    ++done_;
  }
}

std::uint64_t UcxEndpoint::sends_done() {
  if (posted_ == done_) return done_;
  const std::lock_guard lock(worker_.mutex());
  reap_sends();
  return done_;
}

const void* UcxEndpoint::receive(std::size_t bytes, void* landing, const Signature& expected) {
  WEFT_ASSERT(receive_ != Receive::Lent);
  const std::lock_guard lock(worker_.mutex());
  if (cancelled_ || worker_.halted()) return nullptr;
  if (receive_ == Receive::None) {
    post_receive(bytes, landing, expected);
  } else {
    WEFT_ASSERT(receive_ == Receive::Refused || (bytes == expected_bytes_ && (landing == landing_ || bytes == 0)));
    test_receive();
  }
  if (receive_ != Receive::Arrived) return nullptr;
  receive_ = Receive::Lent;
  return landing_ != nullptr ? landing_ : this;  // an empty message without a landing has an address nobody reads
}

void UcxEndpoint::post_receive(std::size_t bytes, void* landing, const Signature& expected) {
  expected_bytes_ = bytes;
  landing_ = landing;
  expected_ = expected;
  expected_tag_ = receive_tag_ | signature_digest(expected);
  ucp_request_param_t param = host_memory();
  param.op_attr_mask |=
      UCP_OP_ATTR_FLAG_NO_IMM_CMPL;  // UCX 1.13 does not tell tag and length of what was there already
  receive_request_ = ucp_tag_recv_nbx(worker_.handle(), landing, bytes, receive_tag_, kTagMatchMask, &param);
  receive_ = Receive::Posted;
  if (UCS_PTR_IS_ERR(receive_request_)) {
    judge(UCS_PTR_STATUS(std::exchange(receive_request_, nullptr)));
  } else {
    test_receive();
  }
}

void UcxEndpoint::test_receive() {
  if (receive_ != Receive::Posted) return;
  const ucs_status_t status = ucp_tag_recv_request_test(receive_request_, &info_);
  if (status == UCS_INPROGRESS) return;
  ucp_request_free(receive_request_);
  receive_request_ = nullptr;
  judge(status);
}

void UcxEndpoint::judge(ucs_status_t status) {
  const bool as_expected = status == UCS_OK && info_.length == expected_bytes_ && info_.sender_tag == expected_tag_;
  receive_ = as_expected ? Receive::Arrived : Receive::Refused;
  const bool cancelled_here = status == UCS_ERR_CANCELED && ending_;
  if (status != UCS_OK && status != UCS_ERR_MESSAGE_TRUNCATED && !cancelled_here) peer_.fail(status);
}

void UcxEndpoint::release() {
  WEFT_ASSERT(receive_ == Receive::Lent);
  receive_ = Receive::None;
}

bool UcxEndpoint::front(Unexpected* what) {
  test_receive();
  if (receive_ == Receive::Lent || receive_ == Receive::Posted) return false;
  if (receive_ == Receive::None &&
      ucp_tag_probe_nb(worker_.handle(), receive_tag_, kTagMatchMask, 0, &info_) == nullptr) {
    return false;
  }
  // Of a signature only a digest travels: it is known where it is the expected one.
  const bool same_call = receive_ == Receive::Refused && info_.sender_tag == expected_tag_;
  *what = {.signature = same_call ? expected_ : Signature(), .bytes = info_.length};
  return true;
}

bool UcxEndpoint::peek(Unexpected* what) {
  const std::lock_guard lock(worker_.mutex());
  return !cancelled_ && front(what);
}

bool UcxEndpoint::unexpected(Unexpected* what) {
  const std::lock_guard lock(worker_.mutex());
  test_receive();
  if (cancelled_ || receive_ != Receive::Refused) return false;
  return front(what);
}

Status UcxEndpoint::failure() {
  if (cancelled_) return {Code::Aborted, fmt::format("lane {:#x} was cancelled", lane_), peer_.rank()};
  const std::lock_guard lock(worker_.mutex());
  if (worker_.halted()) {
    return {Code::Aborted, "UCX did not end what was cancelled on another lane and was stopped", peer_.rank()};
  }
  worker_.progress();
  const ucs_status_t status = peer_.status();
  if (status == UCS_OK) return {};
  Unexpected what;  // what arrived before the connection broke can still be received
  if (front(&what) && receive_ != Receive::Refused) return {};
  return ucx_error(Code::PeerLost, fmt::format("rank {}: the connection broke", peer_.rank()), status, peer_.rank());
}

void UcxEndpoint::cancel(int deadline_ms) {
  const std::lock_guard lock(worker_.mutex());
  cancelled_ = true;
  end_requests(deadline_ms);
}

// Receives are cancelled. Sends get half of the time to finish; then the connection is given up, which ends them, and
// with it a receive that the peer is in the middle of.
void UcxEndpoint::end_requests(int deadline_ms) {
  ending_ = true;
  const auto deadline = base::Deadline::after_ms(deadline_ms);
  const int grace_ms = peer_.status() == UCS_OK ? std::min(deadline_ms / 2, kCancelGraceMs) : 0;
  if (receive_ == Receive::Posted) ucp_request_cancel(worker_.handle(), receive_request_);
  const auto drain = [&](const base::Deadline& until) {
    for (;;) {
      reap_sends();
      test_receive();
      if (idle() || until.passed() || worker_.halted()) return;
      worker_.progress();
    }
  };
  drain(base::Deadline::after_ms(grace_ms));
  if (idle()) return;
  const bool closed = peer_.force_close(deadline.remaining_ms());
  drain(closed ? deadline.at_most_ms(kCancelGraceMs) : deadline);
  if (idle()) return;
  // With the connection gone no more pieces come of a message in whose middle the peer died, should UCX keep the
  // receive. All else that is still there may go on with the buffers as long as UCX is driven.
  if (!closed || posted_ != done_) worker_.halt();
  abandon_requests();
}

// UCX frees them when they are done, or with the worker.
void UcxEndpoint::abandon_requests() {
  for (; done_ < posted_; ++done_) {
    void* const request = std::exchange(sends_[done_ % kMaxOutstanding], nullptr);
    if (request != nullptr) ucp_request_free(request);
  }
  if (receive_ != Receive::Posted) return;
  ucp_request_free(std::exchange(receive_request_, nullptr));
  receive_ = Receive::Refused;
}

}  // namespace weft::transports
