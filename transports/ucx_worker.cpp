// Configuration, creation and ending of UCX's objects.
#include "transports/ucx_worker.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/deadline.hpp"
#include "base/socket.hpp"

namespace weft::transports {

namespace {

// Everything but memory shared between processes: that is shm's, and ranks that WEFT_HOST_ID keeps apart must not meet
// in it.
constexpr const char* kTransports = "^sm";
constexpr int kCloseDeadlineMs = 1'000;  // by force, which needs nothing of the peer
// For peers to take what was sent to them, before the worker ends. UCX over TCP knows only from the peer's answer.
constexpr int kLeaveDeadlineMs = 5'000;

struct ConfigReleaser {
  void operator()(ucp_config_t* config) const { ucp_config_release(config); }
};

// UCX's own variables are the user's word and win.
Result<std::unique_ptr<ucp_config_t, ConfigReleaser>> read_config(const std::string& interface) {
  ucp_config_t* raw = nullptr;
  ucs_status_t status = ucp_config_read(nullptr, nullptr, &raw);
  if (status != UCS_OK) return ucx_error(Code::InvalidArgument, "cannot read UCX's settings; check UCX_*", status);
  std::unique_ptr<ucp_config_t, ConfigReleaser> config(raw);
  if (std::getenv("UCX_TLS") == nullptr) {
    status = ucp_config_modify(raw, "TLS", kTransports);
    if (status != UCS_OK) return ucx_error(Code::Internal, "UCX refuses Weft's choice of its transports", status);
  }
  if (!interface.empty() && std::getenv("UCX_NET_DEVICES") == nullptr) {
    status = ucp_config_modify(raw, "NET_DEVICES", interface.c_str());
    if (status != UCS_OK) {
      return ucx_error(Code::InvalidArgument, fmt::format("UCX refuses the interface '{}' (WEFT_INTERFACE)", interface),
                       status);
    }
  }
  return config;
}

void on_peer_error(void* peer, ucp_ep_h /*endpoint*/, ucs_status_t status) {
  static_cast<UcxPeer*>(peer)->fail(status);
}

}  // namespace

Status ucx_error(Code code, std::string_view text, ucs_status_t status, int peer) {
  return {code, fmt::format("{} (UCX: {})", text, ucs_status_string(status)), peer};
}

Result<std::unique_ptr<UcxWorker>> UcxWorker::create(const std::string& interface) {
  std::unique_ptr<UcxWorker> worker(new UcxWorker());
  WEFT_TRY(worker->start(interface));
  return worker;
}

Status UcxWorker::start(const std::string& interface) {
  WEFT_TRY_ASSIGN(use_, UcxUse::begin());
  WEFT_TRY(base::check_interfaces(interface));  // UCX itself only warns, and then reaches nobody
  WEFT_TRY_ASSIGN(const auto config, read_config(interface));
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME;
  params.features = UCP_FEATURE_TAG;
  params.name = "weft";
  ucs_status_t status = ucp_init(&params, config.get(), &context_);
  if (status != UCS_OK) {
    return ucx_error(Code::Unsupported,
                     interface.empty()
                         ? "UCX cannot start"
                         : fmt::format("UCX cannot start on the interface '{}' (WEFT_INTERFACE)", interface),
                     status);
  }
  ucp_worker_params_t worker_params{};
  worker_params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  worker_params.thread_mode = UCS_THREAD_MODE_SERIALIZED;  // the mutex serialises
  status = ucp_worker_create(context_, &worker_params, &worker_);
  if (status != UCS_OK) return ucx_error(Code::Unsupported, "UCX cannot make a worker", status);
  return read_address();
}

Status UcxWorker::read_address() {
  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  const ucs_status_t status = ucp_worker_get_address(worker_, &address, &bytes);
  if (status != UCS_OK) return ucx_error(Code::Unsupported, "UCX does not tell its address", status);
  address_.assign(reinterpret_cast<const char*>(address), bytes);
  ucp_worker_release_address(worker_, address);
  return {};
}

Result<std::unique_ptr<UcxPeer>> UcxPeer::connect(UcxWorker& worker, int rank, std::string_view worker_address) {
  std::unique_ptr<UcxPeer> peer(new UcxPeer(worker, rank));
  ucp_ep_params_t params{};
  params.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(worker_address.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;  // else a receive from a killed process pends for ever
  params.err_handler = {&on_peer_error, peer.get()};
  const std::lock_guard lock(worker.mutex());
  const ucs_status_t status = ucp_ep_create(worker.handle(), &params, &peer->endpoint_);
  if (status != UCS_OK) {
    peer->endpoint_ = nullptr;
    return ucx_error(
        Code::Unsupported,
        fmt::format("UCX finds no way to rank {}; check that the hosts share a network (WEFT_INTERFACE, UCX_TLS)",
                    rank),
        status, rank);
  }
  return peer;
}

void UcxPeer::fail(ucs_status_t status) {
  ucs_status_t none = UCS_OK;
  status_.compare_exchange_strong(none, status, std::memory_order_acq_rel);
}

bool UcxPeer::force_close(int deadline_ms) {
  if (endpoint_ != nullptr) {
    fail(UCS_ERR_CANCELED);
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_EP_CLOSE_FLAG_FORCE;
    close_ = ucp_ep_close_nbx(std::exchange(endpoint_, nullptr), &param);
  }
  if (UCS_PTR_IS_ERR(close_)) return false;
  const auto deadline = base::Deadline::after_ms(deadline_ms);
  while (close_ != nullptr) {
    if (ucp_request_check_status(close_) != UCS_INPROGRESS) {
      ucp_request_free(std::exchange(close_, nullptr));
    } else if (deadline.passed() || worker_.halted()) {
      return false;
    } else {
      worker_.progress();
    }
  }
  return true;
}

bool UcxPeer::start_leaving() {
  if (endpoint_ == nullptr || !sent_ || status() != UCS_OK) return false;
  ucp_request_param_t param{};
  flush_ = ucp_ep_flush_nbx(endpoint_, &param);
  return UCS_PTR_IS_PTR(flush_);
}

bool UcxPeer::has_left() const { return ucp_request_check_status(flush_) != UCS_INPROGRESS; }

UcxPeer::~UcxPeer() {
  if (UCS_PTR_IS_PTR(flush_)) ucp_request_free(flush_);
  // What is not done goes on by itself; the worker ends it.
  if (!force_close(kCloseDeadlineMs) && UCS_PTR_IS_PTR(close_)) ucp_request_free(close_);
}

void UcxWorker::part(std::unique_ptr<UcxPeer> peer) {
  const std::lock_guard lock(mutex_);
  if (!halted_ && peer->start_leaving()) {
    leaving_.push_back(std::move(peer));
  } else {
    peer.reset();
  }
}

void UcxWorker::retire(const Tags& tags) {
  const std::lock_guard lock(retired_mutex_);
  if (std::ranges::find(retired_, tags) != retired_.end()) return;
  if (retired_.size() == kMaxRetired) retired_.erase(retired_.begin());
  retired_.push_back(tags);
  retires_.store(true, std::memory_order_relaxed);
}

void UcxWorker::drop_late() {
  Tags tags{};
  {
    const std::lock_guard lock(retired_mutex_);
    tags = retired_[looks_ / kLookEvery % retired_.size()];
  }
  drop(tags);
}

void UcxWorker::drop(const Tags& tags) {
  for (;;) {
    ucp_tag_recv_info_t info{};
    const ucp_tag_message_h message = ucp_tag_probe_nb(worker_, tags.tag, tags.mask, 1, &info);
    if (message == nullptr) return;
    // Into no room: truncated, so its bytes are not copied, but the message is gone.
    const ucp_request_param_t param = host_memory();
    void* const request = ucp_tag_msg_recv_nbx(worker_, nullptr, 0, message, &param);
    if (UCS_PTR_IS_PTR(request)) ucp_request_free(request);
  }
}

void UcxWorker::progress() {
  if (halted_) return;
  ucp_worker_progress(worker_);
  if (retires_.load(std::memory_order_relaxed) && ++looks_ % kLookEvery == 0) drop_late();
  if (!leaving_.empty()) close_those_that_left();
}

void UcxWorker::close_those_that_left() {
  // Out of the list first: closing one calls progress() again.
  const auto staying = [](const std::unique_ptr<UcxPeer>& peer) { return !peer->has_left(); };
  const auto left = std::partition(leaving_.begin(), leaving_.end(), staying);
  const std::vector<std::unique_ptr<UcxPeer>> gone(std::make_move_iterator(left),
                                                   std::make_move_iterator(leaving_.end()));
  leaving_.erase(left, leaving_.end());
}

void UcxWorker::wait_for_parted(const std::vector<std::unique_ptr<UcxWorker>>& workers) {
  const auto waits = [](const std::unique_ptr<UcxWorker>& worker) {
    return !worker->leaving_.empty() && !worker->halted_;
  };
  const auto deadline = base::Deadline::after_ms(kLeaveDeadlineMs);
  while (std::ranges::any_of(workers, waits) && !deadline.passed()) {
    for (const auto& worker : workers) worker->progress();
  }
}

UcxWorker::~UcxWorker() {
  std::exchange(leaving_, {}).clear();
  if (worker_ != nullptr) ucp_worker_destroy(worker_);
  if (context_ != nullptr) ucp_cleanup(context_);
}

}  // namespace weft::transports
