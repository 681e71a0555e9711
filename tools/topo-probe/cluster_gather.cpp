// Surveys over a launcher's ranks, by messages of the store that Weft starts with:
//
//   every rank -> rank 0   "host BOOT_ID NAME"
//   rank 0 -> one rank of each host  "survey", to the others "done"
//   that rank -> rank 0    "survey {...}" or "failed REASON"; then rank 0 sends it "done"
//
// If the rank of a host dies, another one of that host is asked. Every wait ends by the deadline.
#include <fmt/format.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>

#include "base/deadline.hpp"
#include "base/json_writer.hpp"
#include "cluster.hpp"
#include "topology/read_file.hpp"
#include "transports/store/store.hpp"

namespace weft::topo_probe {
namespace {

using topology::cluster::ClusterNode;

struct Event {
  int rank = 0;
  std::optional<std::string> message;  // without: the rank died
};

// What the store tells on its own thread, for one that waits.
class Mailbox {
 public:
  explicit Mailbox(transports::Store& store) : store_(store) {
    store.listen({[this](int rank) {
                    put({rank, std::nullopt});
                  },
                  [this](int from, std::string_view message) {
                    put({from, std::string(message)});
                  }});
  }
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  ~Mailbox() { store_.listen({}); }

  // Nothing once the deadline has passed.
  std::optional<Event> next(const base::Deadline& deadline) {
    std::unique_lock lock(mutex_);
    if (!arrived_.wait_until(lock, deadline.time(), [this] { return !events_.empty(); })) return std::nullopt;
    Event event = std::move(events_.front());
    events_.pop_front();
    return event;
  }

  void put(Event event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
    arrived_.notify_one();
  }

 private:
  transports::Store& store_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Event> events_;
};

std::string host_message() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0) name[0] = '\0';
  const std::string boot = topology::read_attribute("/proc/sys/kernel/random/boot_id").value_or("unknown");
  return fmt::format("host {} {}", boot, name);
}

std::string survey_message() {
  const Result<topology::Survey> survey = topology::survey();
  if (!survey) return fmt::format("failed {}", survey.error().message());
  base::JsonWriter json;
  json.begin_object();
  write_survey(json, *survey);
  json.end_object();
  return "survey " + std::move(json).text();
}

class Gatherer {
 public:
  Gatherer(transports::Store& store, base::Deadline deadline, int timeout_ms)
      : store_(store), deadline_(deadline), timeout_ms_(timeout_ms), mailbox_(store) {
    for (int rank = 0; rank < store.size(); ++rank) waited_.insert(rank);
  }

  Result<std::vector<ClusterNode>> gather() {
    mailbox_.put({0, host_message()});
    while (!waited_.empty()) {
      const std::optional<Event> event = mailbox_.next(deadline_);
      if (!event) break;
      WEFT_TRY(event->message ? heard(event->rank, *event->message) : died(event->rank));
    }
    for (int rank : waited_) give_up(rank);
    for (int rank = 1; rank < store_.size(); ++rank) WEFT_TRY(store_.send(rank, "done"));
    return std::move(nodes_);
  }

 private:
  struct Host {
    std::string name;
    std::vector<int> ranks;  // that live
    int asked = -1;
    bool told = false;
  };

  Status heard(int rank, const std::string& message) {
    if (message.starts_with("host ")) return joined(rank, message.substr(5));
    waited_.erase(rank);
    Host& host = hosts_[host_of_[rank]];
    if (host.told) return {};
    host.told = true;
    ClusterNode node;
    node.name = host.name;
    if (message.starts_with("survey ")) {
      Result<topology::Survey> survey = topology::survey_from_json(std::string_view(message).substr(7));
      if (survey)
        node.survey = std::move(survey).value();
      else
        node.failure = survey.error().message();
    } else {
      node.failure = message.starts_with("failed ") ? message.substr(7) : "it sent what nobody understands";
    }
    nodes_.push_back(std::move(node));
    return {};
  }

  // "BOOT_ID NAME": containers of one machine share the first and may differ in the second; each is looked at.
  Status joined(int rank, const std::string& identity) {
    const auto [found, fresh] = hosts_.try_emplace(identity);
    Host& host = found->second;
    host_of_[rank] = identity;
    host.ranks.push_back(rank);
    if (!fresh) {
      waited_.erase(rank);
      return {};
    }
    host.name = identity.substr(std::min(identity.find(' ') + 1, identity.size()));
    if (host.name.empty()) host.name = fmt::format("host of rank {}", rank);
    return ask(host);
  }

  Status ask(Host& host) {
    host.asked = host.ranks.front();
    waited_.insert(host.asked);
    if (host.asked != 0) return store_.send(host.asked, "survey");
    mailbox_.put({0, survey_message()});
    return {};
  }

  Status died(int rank) {
    const bool waited = waited_.erase(rank) > 0;
    const auto known = host_of_.find(rank);
    if (known == host_of_.end()) {
      if (waited) silent(fmt::format("rank {}", rank), fmt::format("rank {} died before it named its host", rank));
      return {};
    }
    Host& host = hosts_[known->second];
    std::erase(host.ranks, rank);
    if (host.told || host.asked != rank) return {};
    if (!host.ranks.empty()) return ask(host);
    host.told = true;
    silent(host.name, fmt::format("rank {} died before it told", rank));
    return {};
  }

  void give_up(int rank) {
    const auto known = host_of_.find(rank);
    if (known == host_of_.end())
      return silent(fmt::format("rank {}", rank),
                    fmt::format("rank {} did not come for {} s", rank, timeout_ms_ / 1000.0));
    if (hosts_[known->second].asked == rank && !hosts_[known->second].told)
      silent(hosts_[known->second].name, fmt::format("rank {} did not tell for {} s", rank, timeout_ms_ / 1000.0));
  }

  void silent(std::string name, std::string why) {
    ClusterNode& node = nodes_.emplace_back();
    node.name = std::move(name);
    node.failure = std::move(why);
  }

  transports::Store& store_;
  base::Deadline deadline_;
  int timeout_ms_;
  Mailbox mailbox_;
  std::set<int> waited_;  // ranks that owe a message
  std::map<int, std::string> host_of_;
  std::map<std::string, Host> hosts_;  // by identity
  std::vector<ClusterNode> nodes_;
};

Status answer(transports::Store& store, const base::Deadline& deadline, int timeout_ms) {
  Mailbox mailbox(store);
  WEFT_TRY(store.send(0, host_message()));
  for (;;) {
    const std::optional<Event> event = mailbox.next(deadline);
    if (!event)
      return Status(Code::Timeout, fmt::format("rank {} waited {} s for rank 0", store.rank(), timeout_ms / 1000.0), 0);
    if (!event->message && event->rank == 0) return Status(Code::PeerLost, "rank 0, which gathers, died", 0);
    if (event->message == "done") return {};
    if (event->message == "survey") WEFT_TRY(store.send(0, survey_message()));
  }
}

}  // namespace

Result<std::optional<std::vector<ClusterNode>>> gather_nodes(const Options& options, int timeout_ms) {
  // Ranks other than 0 wait a little longer, so that rank 0 is the one that tells.
  constexpr int kLongerMs = 5'000;
  Options bounded = options;
  bounded.timeout_ms = timeout_ms;
  const auto deadline = base::Deadline::after_ms(timeout_ms);
  WEFT_TRY_ASSIGN(const std::unique_ptr<transports::Store> store, transports::connect_store(bounded));
  if (store->rank() != 0) {
    WEFT_TRY(answer(*store, deadline.later_by_ms(kLongerMs), timeout_ms));
    store->leave();
    return std::optional<std::vector<ClusterNode>>();
  }
  WEFT_TRY_ASSIGN(std::vector<ClusterNode> nodes, Gatherer(*store, deadline, timeout_ms).gather());
  store->leave();
  return std::optional(std::move(nodes));
}

}  // namespace weft::topo_probe
