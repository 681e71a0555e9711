// Events in the order in which they came.
#include "mailbox.hpp"

#include <string_view>
#include <utility>

namespace weft::topo_probe {

Mailbox::Mailbox(transports::Store& store) : store_(store) {
  store.listen({[this](int rank) {
                  put({rank, std::nullopt});
                },
                [this](int from, std::string_view message) {
                  put({from, std::string(message)});
                }});
}

std::optional<Event> Mailbox::next(const base::Deadline& deadline) {
  std::unique_lock lock(mutex_);
  if (!arrived_.wait_until(lock, deadline.time(), [this] { return !events_.empty(); })) return std::nullopt;
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

void Mailbox::put(Event event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
  arrived_.notify_one();
}

}  // namespace weft::topo_probe
