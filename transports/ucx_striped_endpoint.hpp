// UcxStripedEndpoint: one end of a lane over several rails, each a lane of a UCX worker of its own. A long message goes
// over all of them at once, a part on each; a short one over the first.
//
//   rail 0   | short | part 0 of long | short | part 0 of long |
//   rail 1           | part 1 of long |       | part 1 of long |
//
// Each rail keeps its order, so nothing is numbered: both sides cut by the length alone. A part on rail 0 is never as
// short as a short message, so its length says which of the two it is, also where sender and receiver disagree.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "transports/transport.hpp"
#include "transports/ucx_endpoint.hpp"

namespace weft::transports {

class UcxStripedEndpoint final : public Endpoint {
 public:
  // From here on a message goes over all rails.
  static constexpr std::size_t kLongBytes = std::size_t{32} << 10;

  // The same rails in the same order as the peer, two at least.
  explicit UcxStripedEndpoint(std::vector<std::unique_ptr<Endpoint>> rails);

  bool send(const void* data, std::size_t bytes, const Signature& signature) override;
  const void* receive(std::size_t bytes, void* landing, const Signature& expected) override;
  void release() override;
  std::uint64_t sends_done() override;
  bool unexpected(Unexpected* what) override;
  bool peek(Unexpected* what) override;
  Status failure() override;
  void cancel(int deadline_ms) override;

  // Where the part of a rail begins; of the rail after the last one, where the message ends.
  static std::size_t begin_of_part(std::size_t bytes, std::size_t rail, std::size_t rails);

 private:
  // No more than a rail takes: so a rail has room whenever this lane has.
  static constexpr std::uint64_t kMaxOutstanding = UcxEndpoint::kMaxOutstanding;

  std::size_t part_bytes(std::size_t bytes, std::size_t rail) const;
  std::size_t rails_of(std::size_t bytes) const { return bytes < kLongBytes ? 1 : rails_.size(); }
  bool front_of_rail(std::size_t rail, Unexpected* what);
  bool front(Unexpected* what);

  std::vector<std::unique_ptr<Endpoint>> rails_;
  bool broken_ = false;  // a rail took no part of a message whose others were sent

  std::uint64_t posted_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t long_posted_ = 0;
  // By message: how many long ones there were up to it.
  std::array<std::uint64_t, kMaxOutstanding> long_until_{};

  // Of the message being received. A rail that lent its part is not asked again.
  std::size_t bytes_ = 0;
  Signature expected_;
  std::vector<bool> lent_;
};

}  // namespace weft::transports
