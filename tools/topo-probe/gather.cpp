// Who is asked for which host, and what becomes of ranks that die.
#include "gather.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <set>

#include "base/json_writer.hpp"
#include "mailbox.hpp"
#include "stream_agent.hpp"
#include "stream_rounds.hpp"
#include "topology/read_file.hpp"

namespace weft::topo_probe {
namespace {

using topology::cluster::ClusterNode;

// For streams, of all the time there is.
int streams_ms(const GatherOptions& how) { return how.measure ? how.timeout_ms / 4 : 0; }

std::string host_message(const Options& options) {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0) name[0] = '\0';
  const std::string boot = topology::read_attribute("/proc/sys/kernel/random/boot_id").value_or("unknown");
  return fmt::format("host {}{} {}", boot, options.host_id, name);
}

std::string survey_message(const GatherOptions& how, bool measure) {
  const Result<topology::Survey> survey = how.survey(measure);
  if (!survey) return fmt::format("failed {}", survey.error().message());
  base::JsonWriter json;
  json.begin_object();
  write_survey(json, *survey);
  json.end_object();
  return fmt::format("survey {}", std::move(json).text());
}

class Gatherer {
 public:
  Gatherer(transports::Store& store, const GatherOptions& how)
      : store_(store), how_(how), mailbox_(store), agent_(how.deadline, [this](const std::string& message) {
          mailbox_.put({0, message});
        }) {
    for (int rank = 0; rank < store.size(); ++rank) waited_.insert(rank);
  }

  Result<std::vector<ClusterNode>> gather(const Options& options) {
    mailbox_.put({0, host_message(options)});
    const auto deadline = how_.deadline.later_by_ms(-streams_ms(how_));
    while (!waited_.empty()) {
      const std::optional<Event> event = mailbox_.next(deadline);
      if (!event) break;
      WEFT_TRY(event->message ? heard(event->rank, *event->message) : died(event->rank));
    }
    for (int rank : waited_) give_up(rank);
    if (how_.measure) WEFT_TRY(measure_streams());
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
      if (survey) {
        node.survey = std::move(survey).value();
        tellers_.push_back({rank, nodes_.size()});
      } else {
        node.failure = survey.error().message();
      }
    } else {
      node.failure = message.starts_with("failed ") ? message.substr(7) : "it sent what nobody understands";
    }
    nodes_.push_back(std::move(node));
    return {};
  }

  // "IDENTITY NAME": containers of one machine share the first and may differ in the second; each is looked at.
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
    if (host.asked != 0) return store_.send(host.asked, how_.measure ? "survey measure" : "survey");
    mailbox_.put({0, survey_message(how_, how_.measure)});
    return {};
  }

  Status tell(int rank, const std::string& message) {
    if (rank != 0) return store_.send(rank, message);
    agent_.handle(message);
    return {};
  }

  Status measure_streams() {
    const auto tell_rank = [this](int rank, const std::string& message) { return tell(rank, message); };
    return StreamRounds(mailbox_, how_.deadline, tell_rank, dead_, nodes_).run(tellers_);
  }

  Status died(int rank) {
    dead_.insert(rank);
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
    const double seconds = (how_.timeout_ms - streams_ms(how_)) / 1000.0;
    const auto known = host_of_.find(rank);
    if (known == host_of_.end())
      return silent(fmt::format("rank {}", rank), fmt::format("rank {} did not come for {} s", rank, seconds));
    if (hosts_[known->second].asked == rank && !hosts_[known->second].told)
      silent(hosts_[known->second].name, fmt::format("rank {} did not tell for {} s", rank, seconds));
  }

  void silent(std::string name, std::string why) {
    ClusterNode& node = nodes_.emplace_back();
    node.name = std::move(name);
    node.failure = std::move(why);
  }

  transports::Store& store_;
  const GatherOptions how_;
  Mailbox mailbox_;
  std::vector<Teller> tellers_;  // of nodes with a survey
  std::set<int> dead_;           // ranks
  std::set<std::string> names_;  // of hosts
  std::set<int> waited_;         // ranks that owe a message
  std::map<int, std::string> host_of_;
  std::map<std::string, Host> hosts_;  // by identity
  std::vector<ClusterNode> nodes_;
  StreamAgent agent_;  // its threads write into the mailbox: they end first
};

}  // namespace

Result<std::vector<ClusterNode>> gather(transports::Store& store, const Options& options, const GatherOptions& how) {
  return Gatherer(store, how).gather(options);
}

Status answer(transports::Store& store, const Options& options, const GatherOptions& how) {
  Mailbox mailbox(store);
  StreamAgent agent(how.deadline, [&store](const std::string& message) {
    // If rank 0 is gone, the mailbox tells that.
    if (const Status sent = store.send(0, message); !sent.ok()) return;
  });
  WEFT_TRY(store.send(0, host_message(options)));
  for (;;) {
    const std::optional<Event> event = mailbox.next(how.deadline);
    if (!event)
      return Status(Code::Timeout, fmt::format("rank {} waited {} s for rank 0", store.rank(), how.timeout_ms / 1000.0),
                    0);
    if (!event->message && event->rank == 0) return Status(Code::PeerLost, "rank 0, which gathers, died", 0);
    if (!event->message || agent.handle(*event->message)) continue;
    if (*event->message == "done") return {};
    if (event->message->starts_with("survey"))
      WEFT_TRY(store.send(0, survey_message(how, *event->message == "survey measure")));
  }
}

}  // namespace weft::topo_probe
