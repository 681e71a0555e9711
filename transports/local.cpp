// LocalHub: one anonymous segment per pair of ranks, made by whoever asks first.
#include "transports/local.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "transports/slot_endpoint.hpp"

namespace weft::transports {

namespace {

// Anonymous memory whose pages exist once they are touched.
class Pages {
 public:
  static Result<Pages> map(std::size_t bytes, std::string_view what) {
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      return Status(Code::ResourceExhausted,
                    fmt::format("cannot map {} bytes of address space for {}: {}", bytes, what, std::strerror(errno)));
    }
    return Pages(static_cast<std::byte*>(memory), bytes);
  }
  Pages(Pages&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  Pages& operator=(Pages&&) = delete;
  ~Pages() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
  }

  std::byte* data() const { return data_; }

 private:
  Pages(std::byte* data, std::size_t bytes) : data_(data), bytes_(bytes) {}

  std::byte* data_;
  std::size_t bytes_;
};

// Memory of one pair; both ranks use it until the hub ends.
struct Pair {
  Pair(Pages memory, const Segment& segment)
      : memory(std::move(memory)), sides{SegmentSide(segment, 0), SegmentSide(segment, 1)} {}

  Pages memory;
  SegmentSide sides[2];
  ConnectionRegions regions[2];
};

// What one rank makes for the others to read, until the hub ends or it is freed: by number.
struct RankMemory {
  std::map<std::uint32_t, std::pair<Pages, Region>> regions;
  std::uint32_t next = kFanOutRegion + 1;
  std::unique_ptr<FanOutMemory> fan_outs;
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
  Result<Region> allocate(int rank, std::size_t bytes);
  void free(int rank, std::uint32_t region);
  Result<Region> find(int rank, std::uint32_t region);
  Result<FanOutMemory*> fan_outs(int rank);
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
  static Result<Region> allocate(RankMemory& memory, int rank, std::size_t bytes, std::uint32_t number);

  std::mutex memory_mutex_;
  std::map<int, RankMemory> memory_;  // by rank
};

// The threads of a process have each other's memory already.
class LocalMapper final : public RegionMapper {
 public:
  LocalMapper(Hub& hub, int peer) : hub_(hub), peer_(peer) {}
  Result<Region> map(std::uint32_t region, int /*deadline_ms*/) override { return hub_.find(peer_, region); }
  void unmap(std::uint32_t /*region*/) override {}

 private:
  Hub& hub_;
  int peer_;
};

class LocalTransport final : public Transport {
 public:
  LocalTransport(Hub& hub, int rank) : hub_(hub), rank_(rank), watch_(hub.watch(rank)) { watch_.begin(); }
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
  Result<Region> allocate(std::size_t bytes) override { return hub_.allocate(rank_, bytes); }
  void free(std::uint32_t region) override { hub_.free(rank_, region); }
  void poll() override {}
  bool passive() const override { return true; }

 private:
  std::string hub_address() const { return "weft-local " + to_hex(hub_.nonce()); }

  Hub& hub_;
  int rank_;
  LocalWatch& watch_;
  std::map<int, LocalMapper> mappers_;  // by peer
};

std::unique_ptr<Transport> Hub::transport(int rank) { return std::make_unique<LocalTransport>(*this, rank); }

Result<Pair*> Hub::pair(int lower, int higher) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Pair>& pair = pairs_[{lower, higher}];
  if (pair != nullptr) return pair.get();
  WEFT_TRY_ASSIGN(Pages memory, Pages::map(Segment::bytes(layout_), fmt::format("ranks {} and {}", lower, higher)));
  const Segment segment = Segment::format(memory.data(), layout_, nonce_);
  pair = std::make_unique<Pair>(std::move(memory), segment);
  return pair.get();
}

Result<Region> Hub::allocate(int rank, std::size_t bytes) {
  const std::lock_guard lock(memory_mutex_);
  RankMemory& memory = memory_[rank];
  if (memory.next > kMaxRegionNumber)
    return Status(Code::ResourceExhausted, fmt::format("rank {} has shared memory too often", rank));
  return allocate(memory, rank, bytes, memory.next++);
}

// With memory_mutex_ held.
Result<Region> Hub::allocate(RankMemory& memory, int rank, std::size_t bytes, std::uint32_t number) {
  if (bytes == 0 || bytes > kMaxRegionBytes)
    return Status(Code::InvalidArgument,
                  fmt::format("cannot share {} bytes: 1 to {} at a time", bytes, kMaxRegionBytes));
  WEFT_TRY_ASSIGN(Pages pages, Pages::map(bytes, fmt::format("rank {} to share", rank)));
  const Region region{number, pages.data(), bytes};
  memory.regions.emplace(region.number, std::pair(std::move(pages), region));
  return region;
}

void Hub::free(int rank, std::uint32_t region) {
  const std::lock_guard lock(memory_mutex_);
  memory_[rank].regions.erase(region);
}

Result<Region> Hub::find(int rank, std::uint32_t region) {
  const std::lock_guard lock(memory_mutex_);
  const auto& regions = memory_[rank].regions;
  const auto found = regions.find(region);
  if (found == regions.end())
    return Status(Code::InvalidArgument, fmt::format("rank {} has no memory of number {}", rank, region), rank);
  return found->second.second;
}

// Made by whoever names the rank first.
Result<FanOutMemory*> Hub::fan_outs(int rank) {
  const std::lock_guard lock(memory_mutex_);
  RankMemory& memory = memory_[rank];
  if (memory.fan_outs == nullptr) {
    WEFT_TRY_ASSIGN(const Region region,
                    allocate(memory, rank, FanOutMemory::bytes(layout_.slot_bytes), kFanOutRegion));
    memory.fan_outs = std::make_unique<FanOutMemory>(region.data, layout_.slot_bytes);
  }
  return memory.fan_outs.get();
}

Result<std::unique_ptr<Connection>> LocalTransport::connect(int self_rank, int peer_rank, std::string_view peer_address,
                                                            int /*deadline_ms*/) {
  if (!reaches(peer_address)) {
    return Status(Code::InvalidArgument, fmt::format("rank {} is no thread of this process", peer_rank), peer_rank);
  }
  if (self_rank == peer_rank) return Status(Code::InvalidArgument, "a rank does not connect to itself");
  const auto [lower, higher] = std::minmax(self_rank, peer_rank);
  WEFT_TRY_ASSIGN(Pair * pair, hub_.pair(lower, higher));
  WEFT_TRY_ASSIGN(FanOutMemory * own, hub_.fan_outs(self_rank));
  WEFT_TRY_ASSIGN(FanOutMemory * theirs, hub_.fan_outs(peer_rank));
  const int side = self_rank == lower ? 0 : 1;
  ConnectionRegions& regions = pair->regions[side];
  // A transport of the rank that ended before has told them.
  if (regions.ours.find(own->region().data, 1) == 0) {
    regions.ours.add(own->region());
    regions.theirs.add(theirs->region());
  }
  LocalMapper& mapper = mappers_.try_emplace(peer_rank, hub_, peer_rank).first->second;
  return std::unique_ptr<Connection>(std::make_unique<SlotConnection>(
      SlotPeer{pair->sides[side], hub_.watch(peer_rank), regions, mapper, *own, nullptr, peer_rank}));
}

}  // namespace

std::unique_ptr<LocalHub> LocalHub::create(std::size_t slot_bytes) { return std::make_unique<Hub>(slot_bytes); }

}  // namespace weft::transports
