// Surveys over a launcher's ranks, by messages of the store that Weft starts with:
//
//   every rank -> rank 0             "host BOOT_ID NAME"
//   rank 0 -> one rank of each host  "survey", or "survey measure"
//   that rank -> rank 0              "survey {...}" or "failed REASON"
//   if streams are measured          what stream_agent.hpp says
//   rank 0 -> every rank             "done"
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
#include "base/parse.hpp"
#include "cluster.hpp"
#include "stream_agent.hpp"
#include "topology/measure/measure.hpp"
#include "topology/read_file.hpp"
#include "transports/store/store.hpp"

namespace weft::topo_probe {
namespace {

using topology::cluster::ClusterNode;

constexpr std::size_t kMaxStreams = 64;  // that are measured alone
constexpr int kStreamsMs = 6'000;        // for streams that run together

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

std::string host_message(const Options& options) {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0) name[0] = '\0';
  const std::string boot = topology::read_attribute("/proc/sys/kernel/random/boot_id").value_or("unknown");
  return fmt::format("host {}{} {}", boot, options.host_id, name);
}

std::string survey_message(bool measure) {
  Result<topology::Survey> survey = topology::survey();
  if (survey && measure) topology::measure(*survey);
  if (!survey) return fmt::format("failed {}", survey.error().message());
  base::JsonWriter json;
  json.begin_object();
  write_survey(json, *survey);
  json.end_object();
  return fmt::format("survey {}", std::move(json).text());
}

class Gatherer {
 public:
  Gatherer(transports::Store& store, base::Deadline deadline, int timeout_ms, bool measure)
      : store_(store),
        deadline_(deadline),
        timeout_ms_(timeout_ms),
        measure_(measure),
        mailbox_(store),
        agent_(deadline, [this](const std::string& message) {
          mailbox_.put({0, message});
        }) {
    for (int rank = 0; rank < store.size(); ++rank) waited_.insert(rank);
  }

  Result<std::vector<ClusterNode>> gather(const Options& options) {
    mailbox_.put({0, host_message(options)});
    while (!waited_.empty()) {
      const std::optional<Event> event = mailbox_.next(deadline_);
      if (!event) break;
      WEFT_TRY(event->message ? heard(event->rank, *event->message) : died(event->rank));
    }
    for (int rank : waited_) give_up(rank);
    if (measure_) WEFT_TRY(measure_streams());
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
    tellers_.push_back(rank);
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
    if (!names_.insert(host.name).second) host.name += fmt::format(" (rank {})", rank);
    return ask(host);
  }

  Status ask(Host& host) {
    host.asked = host.ranks.front();
    waited_.insert(host.asked);
    if (host.asked != 0) return store_.send(host.asked, measure_ ? "survey measure" : "survey");
    mailbox_.put({0, survey_message(measure_)});
    return {};
  }

  Status tell(int rank, const std::string& message) {
    if (rank != 0) return store_.send(rank, message);
    agent_.handle(message);
    return {};
  }

  // Positions in `nodes_` and `tellers_`; each position sends once and receives once at most.
  using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

  Status measure_streams() {
    if (tellers_.size() != nodes_.size() || tellers_.size() < 2) return {};
    Pairs all;
    for (std::size_t i = 0; i < tellers_.size(); ++i) all.emplace_back(i, (i + 1) % tellers_.size());
    for (std::size_t i = 0; i < std::min(all.size(), kMaxStreams); ++i) WEFT_TRY(time_streams({all[i]}, false));
    return all.size() > 2 ? time_streams(all, true) : Status();
  }

  // What is not answered in time, or fails, is left out.
  Status time_streams(const Pairs& pairs, bool at_once) {
    std::map<int, std::pair<std::size_t, std::size_t>> by_receiver;
    std::size_t open = 0;  // messages to come
    for (const auto& pair : pairs) {
      by_receiver[tellers_[pair.second]] = pair;
      WEFT_TRY(tell(tellers_[pair.second], "tcp listen"));
      ++open;
    }
    const auto deadline = deadline_.at_most_ms(kStreamsMs);
    while (open > 0) {
      const std::optional<Event> event = mailbox_.next(deadline);
      if (!event || !event->message) break;
      --open;
      const std::string& message = *event->message;
      const auto pair = by_receiver.find(event->rank);
      if (message.starts_with("tcp at ") && pair != by_receiver.end()) {
        WEFT_TRY(tell(tellers_[pair->second.first], "tcp send " + message.substr(7)));
        open += 2;  // the sender's answer, and the rate
      } else if (message.starts_with("tcp rate ") && pair != by_receiver.end()) {
        if (const std::optional<double> gbs = base::parse_decimal(std::string_view(message).substr(9)))
          nodes_[pair->second.first].streams.push_back({nodes_[pair->second.second].name, at_once, *gbs});
      }
    }
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
  bool measure_;
  Mailbox mailbox_;
  std::vector<int> tellers_;     // the rank that told of each node
  std::set<std::string> names_;  // of hosts
  std::set<int> waited_;         // ranks that owe a message
  std::map<int, std::string> host_of_;
  std::map<std::string, Host> hosts_;  // by identity
  std::vector<ClusterNode> nodes_;
  StreamAgent agent_;  // its threads write into the mailbox: they end first
};

Status answer(transports::Store& store, const base::Deadline& deadline, const Options& options) {
  Mailbox mailbox(store);
  StreamAgent agent(deadline, [&store](const std::string& message) {
    // If rank 0 is gone, the mailbox tells that.
    if (const Status sent = store.send(0, message); !sent.ok()) return;
  });
  WEFT_TRY(store.send(0, host_message(options)));
  for (;;) {
    const std::optional<Event> event = mailbox.next(deadline);
    if (!event)
      return Status(Code::Timeout,
                    fmt::format("rank {} waited {} s for rank 0", store.rank(), options.timeout_ms / 1000.0), 0);
    if (!event->message && event->rank == 0) return Status(Code::PeerLost, "rank 0, which gathers, died", 0);
    if (event->message == "done") return {};
    if (!event->message || agent.handle(*event->message)) continue;
    if (event->message->starts_with("survey"))
      WEFT_TRY(store.send(0, survey_message(event->message == "survey measure")));
  }
}

}  // namespace

Result<std::optional<std::vector<ClusterNode>>> gather_nodes(const Options& options, int timeout_ms, bool measure) {
  // Ranks other than 0 wait a little longer, so that rank 0 is the one that tells.
  constexpr int kLongerMs = 5'000;
  Options bounded = options;
  bounded.timeout_ms = timeout_ms;
  const auto deadline = base::Deadline::after_ms(timeout_ms);
  WEFT_TRY_ASSIGN(const std::unique_ptr<transports::Store> store, transports::connect_store(bounded));
  if (store->rank() != 0) {
    WEFT_TRY(answer(*store, deadline.later_by_ms(kLongerMs), bounded));
    store->leave();
    return std::optional<std::vector<ClusterNode>>();
  }
  WEFT_TRY_ASSIGN(std::vector<ClusterNode> nodes, Gatherer(*store, deadline, timeout_ms, measure).gather(options));
  store->leave();
  return std::optional(std::move(nodes));
}

}  // namespace weft::topo_probe
