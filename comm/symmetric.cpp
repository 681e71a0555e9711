// Allocating, exchanging numbers, mapping, and the way back.
#include "comm/symmetric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "comm/communicator_state.hpp"

namespace weft::comm {
namespace {

constexpr std::align_val_t kPage{4096};

// What a rank says instead of the number of its region.
constexpr std::int64_t kNone = -1;    // nobody can map its memory
constexpr std::int64_t kFailed = -2;  // it has no memory

}  // namespace

void SymmetricAllocation::Pages::operator()(std::byte* memory) const { ::operator delete[](memory, kPage); }

Result<std::unique_ptr<SymmetricAllocation>> SymmetricAllocation::create(CommunicatorState& communicator,
                                                                         std::size_t bytes) {
  if (communicator.forked()) return communicator.health();
  const auto size = static_cast<std::size_t>(communicator.size());
  const std::vector<int>& members = communicator.members();
  std::unique_ptr<SymmetricAllocation> made(new SymmetricAllocation(communicator.runtime()));
  const Status allocated = made->allocate(members, bytes);
  const std::int64_t number = !allocated.ok()               ? kFailed
                              : made->transport_ == nullptr ? kNone
                                                            : std::int64_t{made->region_.number};
  std::vector<std::int64_t> numbers(size);
  const Purpose purpose{.kind = CallKind::Allocate, .bytes = bytes};
  WEFT_TRY(communicator.run(all_gather(&number, numbers.data(), 1, DataType::Int64), 0, &purpose));
  made->sequence_ = communicator.sequence();
  if (!allocated.ok()) return allocated;
  if (const auto failed = std::ranges::find(numbers, kFailed); failed != numbers.end()) {
    const auto rank = static_cast<int>(failed - numbers.begin());
    return Status(Code::ResourceExhausted,
                  fmt::format("rank {} has no {} bytes of memory to share; allocate less", rank, bytes), rank);
  }
  std::vector<std::uint8_t> mapped(size);
  std::vector<std::uint8_t> mapped_there(size);
  WEFT_TRY(made->map(members, numbers, mapped));
  WEFT_TRY(communicator.run(all_to_all(mapped.data(), mapped_there.data(), 1, DataType::UInt8), 0, &purpose));
  WEFT_TRY(made->share(members, mapped_there));
  return made;
}

// In a forked child the parent goes on using it, and locks may be held for ever.
SymmetricAllocation::~SymmetricAllocation() {
  if (mark_.forked()) return;
  unshare();
  if (transport_ != nullptr) transport_->free(region_.number);
}

// Of the first transport to a peer that has such memory; of the heap where there is none.
Status SymmetricAllocation::allocate(const std::vector<int>& members, std::size_t bytes) {
  if (bytes == 0) return {Code::InvalidArgument, "cannot allocate 0 bytes of symmetric memory"};
  for (const int member : members) {
    transports::Transport* const transport = member == runtime_.rank() ? nullptr : runtime_.transport(member);
    if (transport == nullptr) continue;
    Result<transports::Region> region = transport->allocate(bytes);
    if (!region.has_value() && region.error().code() == Code::Unsupported) continue;
    if (!region.has_value()) return region.error();
    transport_ = transport;
    region_ = *region;
    return {};
  }
  own_.reset(static_cast<std::byte*>(::operator new[](bytes, kPage, std::nothrow)));
  if (own_ == nullptr) return {Code::ResourceExhausted, fmt::format("no memory for {} bytes", bytes)};
  std::memset(own_.get(), 0, bytes);
  region_ = {0, own_.get(), bytes};
  return {};
}

Status SymmetricAllocation::map(const std::vector<int>& members, const std::vector<std::int64_t>& numbers,
                                std::vector<std::uint8_t>& mapped) {
  if (transport_ == nullptr) return {};
  for (std::size_t peer = 0; peer < members.size(); ++peer) {
    if (members[peer] == runtime_.rank() || numbers[peer] < 0 || runtime_.transport(members[peer]) != transport_)
      continue;
    const auto number = static_cast<std::uint32_t>(numbers[peer]);
    const Status status = map_from(members[peer], number);
    // Messages from there are then copied.
    if (status.ok()) {
      mapped_.push_back({members[peer], number});
      mapped[peer] = 1;
    } else if (reason_.empty()) {
      reason_ = fmt::format("rank {}: {}", peer, status.message());
      runtime_.log().info("cannot map symmetric memory of {}", reason_);
    }
  }
  return {};
}

Status SymmetricAllocation::map_from(int root_rank, std::uint32_t number) {
  const auto guard = runtime_.progress().guard();
  const auto setup = runtime_.setup();
  WEFT_TRY_ASSIGN(transports::Connection* const connection, runtime_.connection(root_rank));
  return connection->map(number, runtime_.options().timeout_ms);
}

Status SymmetricAllocation::share(const std::vector<int>& members, const std::vector<std::uint8_t>& mapped_there) {
  for (std::size_t peer = 0; peer < members.size(); ++peer) {
    if (mapped_there[peer] == 0) continue;
    const auto guard = runtime_.progress().guard();
    const auto setup = runtime_.setup();
    WEFT_TRY_ASSIGN(transports::Connection* const connection, runtime_.connection(members[peer]));
    WEFT_TRY(connection->share(region_));
    shared_.push_back(members[peer]);
  }
  readers_ = static_cast<int>(shared_.size());
  return {};
}

void SymmetricAllocation::unshare() {
  const auto guard = runtime_.progress().guard();
  const auto setup = runtime_.setup();
  for (const int peer : shared_)
    if (const auto connection = runtime_.connection(peer); connection.has_value())
      (*connection)->unshare(region_.number);
  shared_.clear();
}

Status SymmetricAllocation::release(CommunicatorState& communicator) {
  if (communicator.forked()) return communicator.health();
  unshare();
  // Until then a peer may still send from its own.
  const Purpose purpose{.kind = CallKind::Free, .bytes = region_.bytes, .memory = sequence_};
  WEFT_TRY(communicator.run(barrier(), 0, &purpose));
  const auto guard = runtime_.progress().guard();
  const auto setup = runtime_.setup();
  for (const Peer& peer : mapped_)
    if (const auto connection = runtime_.connection(peer.root_rank); connection.has_value())
      (*connection)->unmap(peer.number);
  mapped_.clear();
  return {};
}

}  // namespace weft::comm
