// Messages cut into parts, and put together again.
#include "transports/ucx_striped_endpoint.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/deadline.hpp"

namespace weft::transports {

namespace {

constexpr std::size_t kLine = 64;  // parts of aligned memory begin on a cache line, but for those after the second

}  // namespace

UcxStripedEndpoint::UcxStripedEndpoint(std::vector<std::unique_ptr<Endpoint>> rails)
    : rails_(std::move(rails)), lent_(rails_.size()) {
  WEFT_ASSERT(rails_.size() >= 2);
}

std::size_t UcxStripedEndpoint::begin_of_part(std::size_t bytes, std::size_t rail, std::size_t rails) {
  if (rail == 0) return 0;
  const std::size_t share = (bytes / rails + kLine - 1) / kLine * kLine;
  const std::size_t first = std::min(bytes, std::max(share, kLongBytes));
  return first + (bytes - first) * (rail - 1) / (rails - 1);
}

std::size_t UcxStripedEndpoint::part_bytes(std::size_t bytes, std::size_t rail) const {
  return begin_of_part(bytes, rail + 1, rails_.size()) - begin_of_part(bytes, rail, rails_.size());
}

bool UcxStripedEndpoint::send(const void* data, std::size_t bytes, const Signature& signature) {
  if (broken_ || (posted_ - done_ == kMaxOutstanding && posted_ - sends_done() == kMaxOutstanding)) return false;
  if (rails_of(bytes) == 1) {
    if (!rails_.front()->send(data, bytes, signature)) return false;
  } else {
    for (std::size_t rail = 0; rail < rails_.size(); ++rail) {
      const auto* part = static_cast<const std::byte*>(data) + begin_of_part(bytes, rail, rails_.size());
      broken_ = !rails_[rail]->send(part, part_bytes(bytes, rail), signature);
      if (broken_) return false;
    }
    ++long_posted_;
  }
  long_until_[posted_++ % kMaxOutstanding] = long_posted_;
  return true;
}

// Rail 0 has a part of every message, the others one of every long message.
std::uint64_t UcxStripedEndpoint::sends_done() {
  if (posted_ == done_) return done_;
  const std::uint64_t first_done = rails_.front()->sends_done();
  std::uint64_t long_done = long_posted_;
  for (std::size_t rail = 1; rail < rails_.size(); ++rail) long_done = std::min(long_done, rails_[rail]->sends_done());
  while (done_ < first_done && long_until_[done_ % kMaxOutstanding] <= long_done) ++done_;
  return done_;
}

const void* UcxStripedEndpoint::receive(std::size_t bytes, void* landing, const Signature& expected) {
  bytes_ = bytes;
  expected_ = expected;
  if (rails_of(bytes) == 1) return rails_.front()->receive(bytes, landing, expected);
  bool whole = true;
  for (std::size_t rail = 0; rail < rails_.size(); ++rail) {
    std::byte* const part = static_cast<std::byte*>(landing) + begin_of_part(bytes, rail, rails_.size());
    if (!lent_[rail]) lent_[rail] = rails_[rail]->receive(part_bytes(bytes, rail), part, expected) != nullptr;
    whole = whole && lent_[rail];
  }
  return whole ? landing : nullptr;  // UCX receives into the landing
}

void UcxStripedEndpoint::release() {
  for (std::size_t rail = 0; rail < rails_of(bytes_); ++rail) rails_[rail]->release();
  lent_.assign(rails_.size(), false);
}

bool UcxStripedEndpoint::front_of_rail(std::size_t rail, Unexpected* what) {
  if (!lent_[rail]) return rails_[rail]->peek(what);
  *what = {.signature = expected_, .bytes = part_bytes(bytes_, rail)};
  return true;
}

// The front message with all its parts; false until they are here.
bool UcxStripedEndpoint::front(Unexpected* what) {
  if (!front_of_rail(0, what)) return false;
  if (what->bytes < kLongBytes) return true;
  for (std::size_t rail = 1; rail < rails_.size(); ++rail) {
    Unexpected part;
    if (!front_of_rail(rail, &part)) return false;
    what->bytes += part.bytes;
  }
  return true;
}

bool UcxStripedEndpoint::unexpected(Unexpected* what) {
  Unexpected part;
  const auto refuses = [&](const std::unique_ptr<Endpoint>& rail) { return rail->unexpected(&part); };
  return std::ranges::any_of(rails_, refuses) && front(what);
}

bool UcxStripedEndpoint::peek(Unexpected* what) {
  const bool delivered = std::ranges::find(lent_, false) == lent_.end();
  return !delivered && front(what);
}

Status UcxStripedEndpoint::failure() {
  for (const auto& rail : rails_) {
    if (Status status = rail->failure(); !status.ok()) return status;
  }
  return {};
}

void UcxStripedEndpoint::cancel(int deadline_ms) {
  const auto deadline = base::Deadline::after_ms(deadline_ms);
  for (std::size_t rail = 0; rail < rails_.size(); ++rail)
    rails_[rail]->cancel(deadline.remaining_ms() / static_cast<int>(rails_.size() - rail));
}

}  // namespace weft::transports
