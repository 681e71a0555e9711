// LocalHub: one anonymous segment per pair of ranks, made by whoever asks first.
#include "transports/local.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "transports/slot_endpoint.hpp"

namespace weft::transports {

namespace {

// Memory of one pair; both ranks use it until the hub ends.
struct Pair {
  Pair(std::byte* memory, std::size_t bytes, const Segment& segment)
      : memory(memory), bytes(bytes), sides{SegmentSide(segment, 0), SegmentSide(segment, 1)} {}
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair() { ::munmap(memory, bytes); }

  std::byte* memory;
  std::size_t bytes;
  SegmentSide sides[2];
};

class LocalWatch final : public PeerWatch {
 public:
  explicit LocalWatch(int rank) : rank_(rank) {}
  void begin() { state_.fetch_add(kLive + 1, std::memory_order_relaxed); }
  void end() { state_.fetch_sub(kLive, std::memory_order_release); }
  Status check() override {
    const std::uint64_t state = state_.load(std::memory_order_acquire);
    if (state == 0 || state >= kLive) return {};  // not begun, or not ended
    return {Code::PeerLost, fmt::format("rank {}, a thread of this process, has ended", rank_), rank_};
  }

 private:
  static constexpr std::uint64_t kLive = std::uint64_t{1}
                                         << 32;  // low half: transports begun, high half: those that live

  int rank_;
  std::atomic<std::uint64_t> state_ = 0;
};

class Hub final : public LocalHub {
 public:
  explicit Hub(std::size_t slot_bytes) : layout_{slot_bytes} {}

  std::unique_ptr<Transport> transport(int rank) override;

  const Nonce& nonce() const { return nonce_; }
  const RingLayout& layout() const { return layout_; }
  Result<Pair*> pair(int lower, int higher);
  // Known from the first time anybody names the rank.
  LocalWatch& watch(int rank) {
    const std::lock_guard lock(mutex_);
    return watches_.try_emplace(rank, rank).first->second;
  }

 private:
  RingLayout layout_;
  Nonce nonce_ = random_nonce();
  std::mutex mutex_;
  std::map<int, LocalWatch> watches_;
  std::map<std::pair<int, int>, std::unique_ptr<Pair>> pairs_;
};

class LocalTransport final : public Transport {
 public:
  LocalTransport(Hub& hub, int rank) : hub_(hub), watch_(hub.watch(rank)) { watch_.begin(); }
  LocalTransport(const LocalTransport&) = delete;
  LocalTransport& operator=(const LocalTransport&) = delete;
  ~LocalTransport() override { watch_.end(); }

  std::string_view name() const override { return "local"; }
  std::size_t max_message() const override { return hub_.layout().slot_bytes; }
  bool crosses_hosts() const override { return false; }
  std::string address() const override { return hub_address(); }
  bool reaches(std::string_view peer_address) override { return peer_address == hub_address(); }
  Result<std::unique_ptr<Connection>> connect(int self_rank, int peer_rank, std::string_view peer_address,
                                              int deadline_ms) override;
  void poll() override {}
  bool passive() const override { return true; }

 private:
  std::string hub_address() const { return "weft-local " + to_hex(hub_.nonce()); }

  Hub& hub_;
  LocalWatch& watch_;
};

std::unique_ptr<Transport> Hub::transport(int rank) { return std::make_unique<LocalTransport>(*this, rank); }

Result<Pair*> Hub::pair(int lower, int higher) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Pair>& pair = pairs_[{lower, higher}];
  if (pair != nullptr) return pair.get();
  const std::size_t bytes = Segment::bytes(layout_);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return Status(Code::ResourceExhausted, fmt::format("cannot map {} bytes of address space for ranks {} and {}: {}",
                                                       bytes, lower, higher, std::strerror(errno)));
  }
  auto* base = static_cast<std::byte*>(memory);
  pair = std::make_unique<Pair>(base, bytes, Segment::format(base, layout_, nonce_));
  return pair.get();
}

Result<std::unique_ptr<Connection>> LocalTransport::connect(int self_rank, int peer_rank, std::string_view peer_address,
                                                            int /*deadline_ms*/) {
  if (!reaches(peer_address)) {
    return Status(Code::InvalidArgument, fmt::format("rank {} is no thread of this process", peer_rank), peer_rank);
  }
  if (self_rank == peer_rank) return Status(Code::InvalidArgument, "a rank does not connect to itself");
  const auto [lower, higher] = std::minmax(self_rank, peer_rank);
  WEFT_TRY_ASSIGN(Pair * pair, hub_.pair(lower, higher));
  SegmentSide& side = pair->sides[self_rank == lower ? 0 : 1];
  return std::unique_ptr<Connection>(std::make_unique<SlotConnection>(side, hub_.watch(peer_rank), peer_rank));
}

}  // namespace

std::unique_ptr<LocalHub> LocalHub::create(std::size_t slot_bytes) { return std::make_unique<Hub>(slot_bytes); }

}  // namespace weft::transports
