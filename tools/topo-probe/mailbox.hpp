// Mailbox: what a store tells on its own thread, kept for one that waits.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "base/deadline.hpp"
#include "transports/store/store.hpp"

namespace weft::topo_probe {

struct Event {
  int rank = 0;
  std::optional<std::string> message;  // without: the rank died
};

class Mailbox {
 public:
  explicit Mailbox(transports::Store& store);
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  ~Mailbox() { store_.listen({}); }

  // Nothing once the deadline has passed.
  std::optional<Event> next(const base::Deadline& deadline);
  // Any thread.
  void put(Event event);

 private:
  transports::Store& store_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Event> events_;
};

}  // namespace weft::topo_probe
