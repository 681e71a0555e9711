// UcxWorker: UCX's context and worker of this process, and the lock around them. Engines of several threads may share
// it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <ucp/api/ucp.h>

#include "transports/ucx_use.hpp"
#include "weft/status.hpp"

namespace weft::transports {

// "text (UCX: its own words)".
Status ucx_error(Code code, std::string_view text, ucs_status_t status, int peer = -1);

// Where a source or landing lives is known, so UCX need not ask its drivers.
inline ucp_request_param_t host_memory() {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  param.memory_type = UCS_MEMORY_TYPE_HOST;
  return param;
}

class UcxPeer;

class UcxWorker {
 public:
  // Those that agree with `tag` where `mask` has ones.
  struct Tags {
    ucp_tag_t tag;
    ucp_tag_t mask;
    bool operator==(const Tags&) const = default;
  };

  static Result<std::unique_ptr<UcxWorker>> create(const std::string& interface);
  UcxWorker(const UcxWorker&) = delete;
  UcxWorker& operator=(const UcxWorker&) = delete;
  ~UcxWorker();  // by force; see wait_for_parted

  // Held around every call into UCX, progress() included; callbacks run under it.
  std::mutex& mutex() { return mutex_; }
  ucp_worker_h handle() const { return worker_; }
  void progress();
  // UCX moves bytes only in progress(): after this it touches no buffer any more, and no lane works.
  void halt() { halted_ = true; }
  bool halted() const { return halted_; }
  const std::string& address() const { return address_; }
  // Throws away the messages that are there and that no receive waits for.
  void drop(const Tags& tags);
  // The same again and again, in progress(). Any thread, without mutex(). For the kMaxRetired that were retired last:
  // of others the messages stay.
  void retire(const Tags& tags);
  // Ends a connection without waiting: it is kept until what was sent on it has left, at most until the worker ends.
  void part(std::unique_ptr<UcxPeer> peer);
  // Before they end: waits, bounded for all of them together, until what was sent on parted connections has left.
  static void wait_for_parted(const std::vector<std::unique_ptr<UcxWorker>>& workers);

 private:
  UcxWorker() = default;
  Status start(const std::string& interface);
  Status read_address();
  void drop_late();
  void close_those_that_left();

  static constexpr std::size_t kMaxRetired = 256;
  static constexpr std::uint32_t kLookEvery = 16;  // calls of progress(), for what came for one of them

  std::unique_ptr<UcxUse> use_;
  std::mutex mutex_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  std::string address_;
  std::vector<std::unique_ptr<UcxPeer>> leaving_;
  std::uint32_t looks_ = 0;
  std::atomic<bool> retires_ = false;
  std::mutex retired_mutex_;   // held for moments only, alone or inside mutex_
  std::vector<Tags> retired_;  // the first retired first
  bool halted_ = false;
};

// UCX's endpoint to one peer process, shared by the lanes of a connection. All calls under the worker's mutex.
class UcxPeer {
 public:
  static Result<std::unique_ptr<UcxPeer>> connect(UcxWorker& worker, int rank, std::string_view worker_address);
  UcxPeer(const UcxPeer&) = delete;
  UcxPeer& operator=(const UcxPeer&) = delete;
  ~UcxPeer();  // by force; see UcxWorker::part

  ucp_ep_h handle() const { return endpoint_; }
  int rank() const { return rank_; }
  // The first failure; UCS_OK while it works. Any thread, no lock.
  ucs_status_t status() const { return status_.load(std::memory_order_acquire); }
  void fail(ucs_status_t status);
  void sent() { sent_ = true; }
  // Ends the connection at once: all sends on it complete, with an error where they were not done. False if UCX has not
  // let go of it by the deadline.
  bool force_close(int deadline_ms);
  // What sends_done() counted may still be in UCX's buffers: starts a flush if there can be something, and tells when
  // it is over.
  bool start_leaving();
  bool has_left() const;

 private:
  UcxPeer(UcxWorker& worker, int rank) : worker_(worker), rank_(rank) {}
  UcxWorker& worker_;
  int rank_;
  ucp_ep_h endpoint_ = nullptr;
  bool sent_ = false;
  void* flush_ = nullptr;
  void* close_ = nullptr;
  std::atomic<ucs_status_t> status_ = UCS_OK;
};

}  // namespace weft::transports
