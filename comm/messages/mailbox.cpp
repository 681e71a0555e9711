// Searches from the oldest on: few messages and receives wait at a time.
#include "comm/messages/mailbox.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace weft::comm {
namespace {

template <typename Arrivals, typename Condition>
auto* first_where(Arrivals& arrivals, const Condition& condition) {
  const auto found = std::find_if(arrivals.begin(), arrivals.end(), condition);
  return found == arrivals.end() ? nullptr : &*found;
}

}  // namespace

Arrival* Mailbox::find(const MessageRequest& receive) {
  return first_where(arrivals_, [&](const Arrival& arrival) {
    return arrival.taker == nullptr && receive.takes(arrival.source, arrival.tag);
  });
}

MessageRequest* Mailbox::find(int source, int tag) {
  const auto found = std::find_if(posted_.begin(), posted_.end(),
                                  [&](const MessageRequest* receive) { return receive->takes(source, tag); });
  return found == posted_.end() ? nullptr : *found;
}

bool Mailbox::finds_room(int source, int tag, std::uint64_t bytes) const {
  return std::any_of(posted_.begin(), posted_.end(), [&](const MessageRequest* receive) {
    return receive->takes(source, tag) && receive->fits(bytes);
  });
}

Arrival& Mailbox::keep(Arrival arrival) {
  arrivals_.push_back(std::move(arrival));
  return arrivals_.back();
}

void Mailbox::drop(const Arrival& arrival) {
  const auto found = std::find_if(arrivals_.begin(), arrivals_.end(),
                                  [&](const Arrival& candidate) { return &candidate == &arrival; });
  WEFT_ASSERT(found != arrivals_.end());
  arrivals_.erase(found);
}

void Mailbox::post(MessageRequest& receive) {
  const auto after =
      std::upper_bound(posted_.begin(), posted_.end(), receive.order,
                       [](std::uint64_t order, const MessageRequest* other) { return order < other->order; });
  posted_.insert(after, &receive);
}

bool Mailbox::remove(const MessageRequest& receive) {
  const auto found = std::find(posted_.begin(), posted_.end(), &receive);
  if (found == posted_.end()) return false;
  posted_.erase(found);
  return true;
}

Arrival* Mailbox::announced(int source, std::uint32_t id) {
  return first_where(arrivals_, [&](const Arrival& arrival) {
    return arrival.announced && arrival.source == source && arrival.id == id;
  });
}

Arrival* Mailbox::sent_here(const MessageRequest& send) {
  return first_where(arrivals_, [&](const Arrival& arrival) { return arrival.local == &send; });
}

const Arrival* Mailbox::left_over(int source) const {
  return first_where(arrivals_, [&](const Arrival& arrival) { return arrival.source == source; });
}

void Mailbox::clear() {
  arrivals_.clear();
  posted_.clear();
}

}  // namespace weft::comm
