// SymmetricAllocation: one rank's part of symmetric memory: its own region, and those of its peers as mapped here.
//
// Ranks tell each other the numbers of their regions, each maps those of the peers that its transport reaches, and
// tells them so: from then on they send from there without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/fork_guard.hpp"
#include "comm/runtime.hpp"
#include "transports/transport.hpp"
#include "weft/status.hpp"

namespace weft::comm {

class CommunicatorState;

class SymmetricAllocation final {
 public:
  // Collective. An error of one rank is the error of all.
  static Result<std::unique_ptr<SymmetricAllocation>> create(CommunicatorState& communicator, std::size_t bytes);
  // Gives back what is this rank's own; nothing may be in flight from it.
  ~SymmetricAllocation();
  SymmetricAllocation(const SymmetricAllocation&) = delete;
  SymmetricAllocation& operator=(const SymmetricAllocation&) = delete;

  // Collective: afterwards nobody refers to it, and nothing of it is mapped.
  Status release(CommunicatorState& communicator);

  std::byte* data() const { return region_.data; }
  std::size_t bytes() const { return region_.bytes; }
  int readers() const { return readers_; }
  const std::string& reason() const { return reason_; }

 private:
  struct Pages {
    void operator()(std::byte* memory) const;
  };

  explicit SymmetricAllocation(Runtime& runtime) : runtime_(runtime) {}
  Status allocate(const std::vector<int>& members, std::size_t bytes);
  Status map(const std::vector<int>& members, const std::vector<std::int64_t>& numbers,
             std::vector<std::uint8_t>& mapped);
  Status map_from(int root_rank, std::uint32_t number);
  Status share(const std::vector<int>& members, const std::vector<std::uint8_t>& mapped_there);
  void unshare();

  Runtime& runtime_;
  std::uint32_t sequence_ = 0;                  // of the call that made it
  transports::Transport* transport_ = nullptr;  // that the region is of; null: own_ is the memory
  std::unique_ptr<std::byte, Pages> own_;
  transports::Region region_;
  struct Peer {
    int root_rank = 0;
    std::uint32_t number = 0;
  };
  std::vector<Peer> mapped_;  // regions of peers
  std::vector<int> shared_;   // ranks that have mapped the own one
  int readers_ = 0;
  std::string reason_;
  base::ForkMark mark_;
};

}  // namespace weft::comm
