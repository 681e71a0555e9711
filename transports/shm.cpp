// ShmTransport: pairs and their segments.
#include "transports/shm.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "base/deadline.hpp"
#include "base/file_descriptor.hpp"
#include "transports/shm_address.hpp"
#include "transports/shm_handshake.hpp"
#include "transports/shm_listener.hpp"
#include "transports/shm_memory.hpp"
#include "transports/slot_endpoint.hpp"

namespace weft::transports {

namespace {

// The peer process is gone when its pidfd says so; the transport in it when its socket ends. The pidfd is not
// redundant: a child that the peer forked keeps the socket open.
class ShmWatch final : public PeerWatch {
 public:
  ShmWatch(ShmAnswer answer, int rank, pid_t pid) : answer_(std::move(answer)), rank_(rank), pid_(pid) {}

  Status check() override {
    pollfd polled[] = {{answer_.process.get(), POLLIN, 0}, {answer_.socket.get(), POLLIN, 0}};  // -1 is skipped
    if (::poll(polled, 2, 0) <= 0) return {};
    const bool process_ended = polled[0].revents != 0;
    if (!process_ended && may_be_ending()) return {};
    const char* what = process_ended ? "has ended" : "closed its shared-memory transport";
    return {Code::PeerLost, fmt::format("rank {} (process {}) {}", rank_, pid_, what), rank_};
  }
  int descriptors() const override { return (answer_.process ? 1 : 0) + (answer_.socket ? 1 : 0); }

 private:
  // Of a process that dies the sockets are closed a moment before the pidfd tells.
  static constexpr int kEndingMs = 200;

  bool may_be_ending() {
    if (!answer_.process) return false;
    const std::lock_guard lock(mutex_);
    if (!ended_by_) ended_by_ = base::Deadline::after_ms(kEndingMs);
    return !ended_by_->passed();
  }

  ShmAnswer answer_;
  std::mutex mutex_;
  std::optional<base::Deadline> ended_by_;  // from when the end of the socket was seen
  int rank_;
  pid_t pid_;
};

// Of a peer that had ended before it was looked for; what it sent is there.
class EndedWatch final : public PeerWatch {
 public:
  explicit EndedWatch(Status lost) : lost_(std::move(lost)) {}
  Status check() override { return lost_; }

 private:
  Status lost_;
};

// What two ranks share. Made by the first request or connect(), kept as long as the transport.
struct Pair {
  Pair(SharedMemory mapped, const Segment& segment, int side, base::FileDescriptor to_pass)
      : memory(std::move(mapped)), side(segment, side), to_pass(std::move(to_pass)) {}

  SharedMemory memory;
  SegmentSide side;
  base::FileDescriptor to_pass;  // until the peer has fetched it
  std::unique_ptr<PeerWatch> watch;
};

using PairKey = std::tuple<Nonce, int, int>;  // the peer's transport, the rank here, the rank there

class ShmTransport final : public Transport {
 public:
  explicit ShmTransport(const ShmOptions& options) : options_(options), layout_{options.slot_bytes} {}
  ~ShmTransport() override { linger(); }
  ShmTransport(const ShmTransport&) = delete;
  ShmTransport& operator=(const ShmTransport&) = delete;
  Status start();

  std::string_view name() const override { return "shm"; }
  std::size_t max_message() const override { return layout_.slot_bytes; }
  bool crosses_hosts() const override { return false; }
  std::string address() const override { return self_.to_text(); }
  bool reaches(std::string_view peer_address) override;
  Result<std::unique_ptr<Connection>> connect(int self_rank, int peer_rank, std::string_view peer_address,
                                              int deadline_ms) override;
  void poll() override {}
  bool passive() const override { return true; }
  base::Usage usage() override;

 private:
  bool same_host(const ShmAddress& peer) const;
  Result<Pair*> create_pair(const PairKey& key);
  Status join(const PairKey& key, const ShmAddress& peer, int deadline_ms, Pair** joined);
  ShmListener::Grant grant(const ShmRequest& request);
  void linger();
  bool awaits_fetching() const;

  ShmOptions options_;
  RingLayout layout_;
  ShmAddress self_;
  std::mutex connect_mutex_;  // one connect() at a time; never taken by the listener
  std::mutex pairs_mutex_;    // held for no wait
  std::condition_variable fetched_;
  std::map<PairKey, std::unique_ptr<Pair>> pairs_;
  std::unique_ptr<ShmListener> listener_;  // last: its thread ends before what it uses
};

Status ShmTransport::start() {
  Nonce name = random_nonce();
  self_ = {read_boot_id(), options_.host_id, "weft-shm-" + to_hex(name), random_nonce(), ::geteuid(), ::getpid()};
  WEFT_TRY_ASSIGN(listener_, ShmListener::start(self_.socket, self_.nonce,
                                                [this](const ShmRequest& request) { return grant(request); }));
  return {};
}

bool ShmTransport::same_host(const ShmAddress& peer) const {
  return !self_.boot_id.empty() && peer.boot_id == self_.boot_id && peer.host_id == self_.host_id &&
         peer.uid == self_.uid;
}

bool ShmTransport::reaches(std::string_view peer_address) {
  const auto peer = ShmAddress::parse(peer_address);
  if (!peer || !same_host(*peer)) return false;
  const ShmRequest request{.listener = peer->nonce, .requester = self_.nonce};
  const auto answer = ask(*peer, request, options_.reach_deadline_ms);
  if (!answer || !answer->passed) return false;
  const auto memory = SharedMemory::map(answer->passed);
  if (!memory || memory->bytes() < sizeof(ShmProbe)) return false;
  const auto* probe = reinterpret_cast<const ShmProbe*>(memory->data());
  return probe->magic == ShmRequest::kMagic && probe->nonce == peer->nonce;
}

// By the lower rank of the two, on connect() or when the other asks, whichever is first.
Result<Pair*> ShmTransport::create_pair(const PairKey& key) {
  std::unique_ptr<Pair>& pair = pairs_[key];
  if (pair != nullptr) return pair.get();
  WEFT_TRY_ASSIGN(SharedMemory::Created created, SharedMemory::create(Segment::bytes(layout_)));
  const Segment segment = Segment::format(created.memory.data(), layout_, self_.nonce);
  pair = std::make_unique<Pair>(std::move(created.memory), segment, 0, std::move(created.descriptor));
  return pair.get();
}

ShmListener::Grant ShmTransport::grant(const ShmRequest& request) {
  const std::lock_guard lock(pairs_mutex_);
  if (request.listener_rank >= request.requester_rank) return {ShmReply::Result::Failed, {}};
  auto pair = create_pair({request.requester, request.listener_rank, request.requester_rank});
  if (!pair) return {ShmReply::Result::Failed, {}};
  if (!(*pair)->to_pass) return {ShmReply::Result::AlreadyTaken, {}};
  fetched_.notify_all();
  return {ShmReply::Result::Ok, std::move((*pair)->to_pass)};
}

// A rank that has sent its last message may end before the receiver has come to ask for the memory that it lies in.
void ShmTransport::linger() {
  if (listener_ == nullptr) return;
  constexpr std::chrono::milliseconds kLook(20);  // whether the peer is still there
  const auto deadline = base::Deadline::after_ms(options_.linger_ms);
  std::unique_lock lock(pairs_mutex_);
  while (awaits_fetching() && !deadline.passed()) fetched_.wait_for(lock, kLook);
}

base::Usage ShmTransport::usage() {
  base::Usage usage = listener_ == nullptr ? base::Usage() : listener_->usage();
  const std::lock_guard lock(pairs_mutex_);
  for (const auto& [key, pair] : pairs_) {
    if (pair == nullptr) continue;
    usage.descriptors += (pair->to_pass ? 1 : 0) + (pair->watch != nullptr ? pair->watch->descriptors() : 0);
  }
  return usage;
}

bool ShmTransport::awaits_fetching() const {
  return std::any_of(pairs_.begin(), pairs_.end(), [](const auto& entry) {
    Pair* const pair = entry.second.get();
    return pair != nullptr && pair->to_pass && pair->watch != nullptr && pair->side.has_unread() &&
           pair->watch->check().ok();
  });
}

Status ShmTransport::join(const PairKey& key, const ShmAddress& peer, int deadline_ms, Pair** joined) {
  const auto [nonce, self_rank, peer_rank] = key;
  const bool lower = self_rank < peer_rank;
  {
    const std::lock_guard lock(pairs_mutex_);
    const auto found = pairs_.find(key);
    if (found != pairs_.end() && found->second != nullptr && found->second->watch != nullptr) {
      *joined = found->second.get();
      return {};
    }
  }
  const ShmRequest request{.kind = lower ? ShmRequest::Kind::Watch : ShmRequest::Kind::Segment,
                           .listener = peer.nonce,
                           .requester = self_.nonce,
                           .requester_rank = self_rank,
                           .listener_rank = peer_rank};
  Result<ShmAnswer> asked = ask(peer, request, deadline_ms);
  const std::lock_guard lock(pairs_mutex_);
  const auto known = pairs_.find(key);
  const bool has_pair = known != pairs_.end() && known->second != nullptr;
  if (!asked && lower && asked.error().code() == Code::PeerLost && has_pair) {
    // It fetched the memory, sent, and ended.
    *joined = known->second.get();
    (*joined)->watch =
        std::make_unique<EndedWatch>(Status(Code::PeerLost, fmt::format("rank {} has ended", peer_rank), peer_rank));
    return {};
  }
  if (!asked) return asked.error();
  ShmAnswer& answer = *asked;
  if (lower) {
    WEFT_TRY_ASSIGN(*joined, create_pair(key));
  } else {
    if (!answer.passed) return {Code::Corrupt, "the answer came without the shared memory"};
    WEFT_TRY_ASSIGN(SharedMemory memory, SharedMemory::map(answer.passed));
    WEFT_TRY_ASSIGN(const Segment segment, Segment::open(memory.data(), memory.bytes()));
    answer.passed.reset();
    pairs_[key] = std::make_unique<Pair>(std::move(memory), segment, 1, base::FileDescriptor());
    *joined = pairs_[key].get();
  }
  (*joined)->watch = std::make_unique<ShmWatch>(std::move(answer), peer_rank, peer.pid);
  return {};
}

Result<std::unique_ptr<Connection>> ShmTransport::connect(int self_rank, int peer_rank, std::string_view peer_address,
                                                          int deadline_ms) {
  if (self_rank == peer_rank) return Status(Code::InvalidArgument, "a rank does not connect to itself");
  const auto peer = ShmAddress::parse(peer_address);
  if (!peer || !same_host(*peer)) {
    return Status(Code::InvalidArgument, fmt::format("rank {} is not on this host", peer_rank), peer_rank);
  }
  const std::lock_guard lock(connect_mutex_);
  Pair* pair = nullptr;
  Status joined = join({peer->nonce, self_rank, peer_rank}, *peer, deadline_ms, &pair);
  if (!joined.ok()) {
    return Status(joined.code(), fmt::format("shm to rank {}: {}", peer_rank, joined.message()), peer_rank);
  }
  return std::unique_ptr<Connection>(std::make_unique<SlotConnection>(pair->side, *pair->watch, peer_rank));
}

}  // namespace

Result<std::unique_ptr<Transport>> make_shm_transport(const ShmOptions& options) {
  auto transport = std::make_unique<ShmTransport>(options);
  WEFT_TRY(transport->start());
  return std::unique_ptr<Transport>(std::move(transport));
}

}  // namespace weft::transports
