// ShmTransport: pairs and their segments.
#include "transports/shm.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/deadline.hpp"
#include "base/file_descriptor.hpp"
#include "transports/peer_memory.hpp"
#include "transports/shm_address.hpp"
#include "transports/shm_handshake.hpp"
#include "transports/shm_listener.hpp"
#include "transports/shm_memory.hpp"
#include "transports/shm_regions.hpp"
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

// The peer's memory is fetched from its listener.
class ShmMapper final : public RegionMapper {
 public:
  ShmMapper(ShmAddress peer, ShmRequest request) : peer_(std::move(peer)), request_(request) {
    request_.kind = ShmRequest::Kind::Region;
  }

  Result<Region> map(std::uint32_t region, int deadline_ms) override {
    request_.region = region;
    WEFT_TRY_ASSIGN(const ShmAnswer answer, ask(peer_, request_, deadline_ms));
    if (!answer.passed) return Status(Code::Corrupt, "the answer came without the shared memory");
    WEFT_TRY_ASSIGN(SharedMemory memory, SharedMemory::map(answer.passed));
    const Region mapped{region, memory.data(), memory.bytes()};
    mapped_.erase(region);
    mapped_.emplace(region, std::move(memory));
    return mapped;
  }
  void unmap(std::uint32_t region) override { mapped_.erase(region); }

 private:
  ShmAddress peer_;
  ShmRequest request_;
  std::map<std::uint32_t, SharedMemory> mapped_;
};

// What two ranks share. Made by the first request or connect(), kept as long as the transport.
struct Pair {
  Pair(SharedMemory mapped, const Segment& segment, int side, base::FileDescriptor to_pass)
      : memory(std::move(mapped)), side(segment, side), to_pass(std::move(to_pass)) {}

  SharedMemory memory;
  SegmentSide side;
  ConnectionRegions regions;
  std::unique_ptr<ShmMapper> mapper;  // once joined
  base::FileDescriptor to_pass;       // until the peer has fetched it
  std::optional<PeerMemory> process;  // empty: it may not be read
  bool fan_out_passed = false;        // the peer has fetched this rank's memory for them
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
  Result<Region> allocate(std::size_t bytes) override { return regions_.create(bytes); }
  void free(std::uint32_t region) override { regions_.destroy(region); }
  void poll() override {}
  bool passive() const override { return true; }
  base::Usage usage() override;

 private:
  bool same_host(const ShmAddress& peer) const;
  Result<Pair*> create_pair(const PairKey& key);
  Status join(const PairKey& key, const ShmAddress& peer, int deadline_ms, Pair** joined);
  Status join_regions(Pair& pair, const PairKey& key, const ShmAddress& peer, int deadline_ms);
  void let_read(Pair& pair, const ShmAddress& peer, pid_t pid, int peer_rank) const;
  ShmListener::Grant grant(const ShmRequest& request);
  ShmListener::Grant grant_region(const ShmRequest& request);
  void linger();
  bool awaits_fetching() const;

  ShmOptions options_;
  RingLayout layout_;
  ShmAddress self_;
  std::mutex connect_mutex_;  // one connect() at a time; never taken by the listener
  std::mutex pairs_mutex_;    // held for no wait
  std::condition_variable fetched_;
  std::map<PairKey, std::unique_ptr<Pair>> pairs_;
  ShmRegions regions_;
  std::unique_ptr<FanOutMemory> fan_outs_;
  std::unique_ptr<ShmListener> listener_;  // last: its thread ends before what it uses
};

Status ShmTransport::start() {
  Nonce name = random_nonce();
  self_ = {read_boot_id(), options_.host_id, "weft-shm-" + to_hex(name), random_nonce(), ::geteuid(), ::getpid()};
  if (options_.single_copy) self_.nonce_at = reinterpret_cast<std::uintptr_t>(self_.nonce.data());
  WEFT_TRY_ASSIGN(const Region memory, regions_.create(FanOutMemory::bytes(layout_.slot_bytes)));
  WEFT_ASSERT(memory.number == kFanOutRegion);
  fan_outs_ = std::make_unique<FanOutMemory>(memory.data, layout_.slot_bytes);
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
  if (request.kind == ShmRequest::Kind::Region) return grant_region(request);
  const std::lock_guard lock(pairs_mutex_);
  if (request.listener_rank >= request.requester_rank) return {ShmReply::Result::Failed, {}};
  auto pair = create_pair({request.requester, request.listener_rank, request.requester_rank});
  if (!pair) return {ShmReply::Result::Failed, {}};
  if (!(*pair)->to_pass) return {ShmReply::Result::AlreadyTaken, {}};
  fetched_.notify_all();
  return {ShmReply::Result::Ok, std::move((*pair)->to_pass)};
}

ShmListener::Grant ShmTransport::grant_region(const ShmRequest& request) {
  base::FileDescriptor descriptor = regions_.descriptor(request.region);
  if (!descriptor) return {ShmReply::Result::Failed, {}};
  if (request.region == kFanOutRegion) {
    const std::lock_guard lock(pairs_mutex_);
    // A peer that asks has the pair's memory, and this rank made it or has sent nothing yet.
    const auto pair = pairs_.find({request.requester, request.listener_rank, request.requester_rank});
    if (pair != pairs_.end() && pair->second != nullptr) pair->second->fan_out_passed = true;
    fetched_.notify_all();
  }
  return {ShmReply::Result::Ok, std::move(descriptor)};
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
  usage.descriptors += regions_.descriptors();
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
    return pair != nullptr && (pair->to_pass || !pair->fan_out_passed) && pair->watch != nullptr &&
           pair->side.has_unread() && pair->watch->check().ok();
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
  let_read(**joined, peer, answer.pid, peer_rank);
  (*joined)->watch = std::make_unique<ShmWatch>(std::move(answer), peer_rank, peer.pid);
  return {};
}

void ShmTransport::let_read(Pair& pair, const ShmAddress& peer, pid_t pid, int peer_rank) const {
  if (!options_.single_copy || peer.nonce_at == 0) return;
  const Result<PeerMemory> memory = PeerMemory::open(pid, peer.nonce_at, peer.nonce);
  if (!memory) {
    if (options_.note)
      options_.note(fmt::format("long messages of rank {} go through slots: {}", peer_rank, memory.error().message()));
    return;
  }
  pair.process = *memory;
  pair.side.tell_reads_peer();
}

// A peer that has ended meanwhile sends nothing from there any more, or it would have waited.
Status ShmTransport::join_regions(Pair& pair, const PairKey& key, const ShmAddress& peer, int deadline_ms) {
  if (pair.mapper != nullptr) return {};
  const auto [nonce, self_rank, peer_rank] = key;
  auto mapper = std::make_unique<ShmMapper>(
      peer,
      ShmRequest{
          .listener = peer.nonce, .requester = self_.nonce, .requester_rank = self_rank, .listener_rank = peer_rank});
  const Result<Region> mapped = mapper->map(kFanOutRegion, deadline_ms);
  if (!mapped && mapped.error().code() != Code::PeerLost) return mapped.error();
  if (mapped) pair.regions.theirs.add(*mapped);
  pair.regions.ours.add(fan_outs_->region());
  pair.mapper = std::move(mapper);
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
  const PairKey key(peer->nonce, self_rank, peer_rank);
  Status joined = join(key, *peer, deadline_ms, &pair);
  if (joined.ok()) joined = join_regions(*pair, key, *peer, deadline_ms);
  if (!joined.ok()) {
    return Status(joined.code(), fmt::format("shm to rank {}: {}", peer_rank, joined.message()), peer_rank);
  }
  return std::unique_ptr<Connection>(
      std::make_unique<SlotConnection>(SlotPeer{pair->side, *pair->watch, pair->regions, *pair->mapper, *fan_outs_,
                                                pair->process ? &*pair->process : nullptr, peer_rank}));
}

}  // namespace

Result<std::unique_ptr<Transport>> make_shm_transport(const ShmOptions& options) {
  auto transport = std::make_unique<ShmTransport>(options);
  WEFT_TRY(transport->start());
  return std::unique_ptr<Transport>(std::move(transport));
}

}  // namespace weft::transports
