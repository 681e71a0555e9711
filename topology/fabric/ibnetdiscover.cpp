// Reads the listing of `ibnetdiscover`.
//
//   switchguid=0xb8cef60300000010(b8cef60300000010)
//   Switch  41 "S-b8cef60300000010"          # "MF0;leaf1:MQM8700/U1" enhanced port 0 lid 3 lmc 0
//   [1]     "H-0c42a10300000100"[1](c42a10300000100)    # "node1 mlx5_0" lid 5 4xHDR
//   [21]    "S-b8cef60300000020"[1]                     # "MF0;spine1:MQM8700/U1" lid 4 4xHDR
//
//   Ca      1 "H-0c42a10300000100"           # "node1 mlx5_0"
//   [1](c42a10300000100)    "S-b8cef60300000010"[1]     # lid 5 lmc 0 "MF0;leaf1:MQM8700/U1" lid 3 4xHDR
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/parse.hpp"
#include "topology/fabric/cables.hpp"
#include "topology/fabric/fabric.hpp"
#include "topology/guid.hpp"
#include "topology/import/source_text.hpp"
#include "topology/limits.hpp"
#include "topology/node_names.hpp"
#include "topology/rates.hpp"
#include "topology/sources.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMaxSwitches = 1 << 16;
constexpr std::size_t kMaxAdapters = 1 << 17;
constexpr int kMaxPorts = 1 << 16;

// GB/s of one lane after line coding: SDR to QDR 8b/10b, from FDR10 on 64b/66b; from HDR on the nominal rate.
constexpr std::pair<std::string_view, double> kLanes[] = {
    {"SDR", 0.25},  {"DDR", 0.5},  {"QDR", 1},    {"FDR10", 1.25}, {"FDR", 1.7},
    {"EDR", 3.125}, {"HDR", 6.25}, {"NDR", 12.5}, {"XDR", 25},
};

// "4xHDR".
std::optional<double> rate_of(std::string_view word) {
  const std::size_t x = word.find('x');
  if (x == std::string_view::npos) return std::nullopt;
  const std::optional<int> lanes = base::parse_integer(word.substr(0, x));
  if (!lanes || *lanes < 1 || *lanes > 12) return std::nullopt;
  for (const auto& [name, gbs] : kLanes)
    if (word.substr(x + 1) == name) return gbs * *lanes;
  return std::nullopt;
}

// The text between the first two quotation marks; what follows it is left in `text`.
std::optional<std::string_view> take_quoted(std::string_view& text) {
  const std::size_t open = text.find('"');
  const std::size_t close = open == std::string_view::npos ? open : text.find('"', open + 1);
  if (close == std::string_view::npos) return std::nullopt;
  const std::string_view quoted = text.substr(open + 1, close - open - 1);
  text.remove_prefix(close + 1);
  return quoted;
}

// "[12]" at the start.
std::optional<int> take_port(std::string_view& text) {
  if (!text.starts_with('[')) return std::nullopt;
  const std::size_t close = text.find(']');
  if (close == std::string_view::npos) return std::nullopt;
  const std::optional<int> port = base::parse_integer(text.substr(1, close - 1));
  if (!port || *port < 0 || *port > kMaxPorts) return std::nullopt;
  text.remove_prefix(close + 1);
  return port;
}

class ListingReader {
 public:
  explicit ListingReader(const std::string& path) : path_(path) {}

  Result<Cables> read(std::string_view text) {
    WEFT_TRY(check_source_text(path_, text));
    for (const std::string& line : plain_lines(text)) {
      ++line_;
      WEFT_TRY(read_line(line));
    }
    if (cables_.switches.empty() && cables_.adapters.empty())
      return import_error(path_, 0, "has no \"Switch\" and no \"Ca\"; give what ibnetdiscover printed, whole");
    return join();
  }

 private:
  struct Plug {
    std::string id;  // "S-..." or "H-..."
    int port = 0;
    auto operator<=>(const Plug&) const = default;
  };

  Status wrong(std::string_view reason) const { return import_error(path_, line_, reason); }

  Status read_line(std::string_view line) {
    if (line.starts_with("Switch")) return read_owner(line, 'S');
    if (line.starts_with("Ca")) return read_owner(line, 'H');
    if (line.starts_with("Rt")) return read_owner(line, 'R');
    if (line.starts_with('[')) return read_port(line);
    return {};  // comments, vendid=, devid=, sysimgguid=, chassis
  }

  // Ca 1 "H-0c42a10300000100" # "node1 mlx5_0"
  Status read_owner(std::string_view line, char kind) {
    const std::optional<std::string_view> id = take_quoted(line);
    if (!id || id->size() < 3 || (*id)[0] != kind || (*id)[1] != '-')
      return wrong(fmt::format("this line needs an id like \"{}-0002c90300000001\"", kind));
    if (!owners_.insert(std::string(*id)).second) return wrong(fmt::format("{} is listed twice", *id));
    owner_ = *id;
    const std::string description(take_quoted(line).value_or(""));
    if (kind == 'S') return add_switch(description);
    return kind == 'H' ? add_adapter(description) : Status();
  }

  Status add_switch(const std::string& description) {
    if (cables_.switches.size() == kMaxSwitches) return wrong(fmt::format("more than {} switches", kMaxSwitches));
    ends_[owner_] = static_cast<int>(cables_.switches.size());
    cables_.switches.push_back({owner_.substr(2), description});
    return {};
  }

  // "MT25408 ConnectX Mellanox Technologies": what an adapter is called before a host gives it a name.
  static bool is_from_factory(std::string_view description) {
    return description.find("Mellanox Technologies") != std::string_view::npos;
  }

  // "node1 mlx5_0"; SHARP's aggregation nodes are parts of switches and belong to no host.
  Status add_adapter(const std::string& description) {
    if (description.find("Aggregation Node") != std::string::npos) return {};
    if (cables_.adapters.size() == kMaxAdapters) return wrong(fmt::format("more than {} adapters", kMaxAdapters));
    ends_[owner_] = Cables::adapter_end(cables_.adapters.size());
    const std::vector<std::string_view> words =
        is_from_factory(description) ? std::vector<std::string_view>() : words_of(description);
    cables_.adapters.push_back({owner_.substr(2), words.empty() ? owner_ : std::string(words.front()),
                                words.size() < 2 ? "" : std::string(words.back())});
    return {};
  }

  // [21](guid)  "S-b8cef60300000020"[1](guid)  # ... 4xHDR
  Status read_port(std::string_view line) {
    const std::optional<int> own = take_port(line);
    if (!own || owner_.empty()) return wrong("is a port of nothing, or its number makes no sense");
    const std::optional<std::string_view> id = take_quoted(line);
    const std::optional<int> other = id ? take_port(line) : std::nullopt;
    if (!other) return wrong("a port line is written [1] \"S-0002c90300000001\"[2]");
    double gbs = 0;
    for (std::string_view word : words_of(line)) gbs = rate_of(word).value_or(gbs);
    auto ends = std::pair(Plug{owner_, *own}, Plug{std::string(*id), *other});
    if (ends.second < ends.first) std::swap(ends.first, ends.second);
    double& known = plugged_[std::move(ends)];
    if (known > 0 && gbs > 0 && known != gbs) return wrong("the two ends of this cable tell different rates");
    known = std::max(known, gbs);
    return {};
  }

  // Each cable is listed at both of its ends; one is enough.
  Result<Cables> join() {
    for (const auto& [ends, gbs] : plugged_) {
      const auto a = ends_.find(ends.first.id);
      const auto b = ends_.find(ends.second.id);
      if (a == ends_.end() || b == ends_.end()) continue;  // a router, an aggregation node, or cut off
      cables_.cables.push_back({a->second, b->second, gbs > 0 ? gbs : rates::kAssumedEthernet.bandwidth_gbs, gbs <= 0});
    }
    return std::move(cables_);
  }

  const std::string& path_;
  std::size_t line_ = 0;
  Cables cables_;
  std::string owner_;
  std::set<std::string, std::less<>> owners_;
  std::map<std::string, int, std::less<>> ends_;  // id -> switch or adapter
  std::map<std::pair<Plug, Plug>, double> plugged_;
};

Node plain_node(NodeKind kind, int host, int parent, std::string name) {
  Node node;
  node.kind = kind;
  node.host = host;
  node.parent = parent;
  node.name = std::move(name);
  return node;
}

// Machines and NICs that only the listing knows.
class ListedHosts {
 public:
  explicit ListedHosts(Survey& survey) : survey_(survey) {}

  int nic_of(const Cables::Adapter& adapter) {
    const auto [found, fresh] = hosts_.try_emplace(adapter.host, static_cast<int>(hosts_.size()));
    if (fresh) {
      machines_.push_back(
          survey_.graph.add(plain_node(NodeKind::Machine, found->second, -1, as_node_name(adapter.host))));
      survey_.hosts.emplace_back().hostname = adapter.host;
      names_.emplace_back().take(survey_.graph.nodes[static_cast<std::size_t>(machines_.back())].name);
    }
    const int machine = machines_[static_cast<std::size_t>(found->second)];
    const std::string name =
        names_[static_cast<std::size_t>(found->second)].take(adapter.device.empty() ? "hca" : adapter.device);
    Node node = plain_node(NodeKind::Nic, found->second, machine, name);
    node.fabric = true;
    const int nic = survey_.graph.add(std::move(node));
    // Where in the host the adapter sits is not known; the link must not be what binds.
    survey_.graph.connect(machine, nic, LinkKind::Pci, rates::kHostBridge.bandwidth_gbs, rates::kPciLatencyUs,
                          kAssumed);
    DeviceFacts facts;
    facts.node = name;
    facts.guid = adapter.guid;
    survey_.hosts[static_cast<std::size_t>(found->second)].devices.push_back(std::move(facts));
    return nic;
  }

 private:
  Survey& survey_;
  std::map<std::string, int> hosts_;
  std::vector<int> machines_;
  std::vector<UniqueNames> names_;  // by host
};

// The NICs of surveyed hosts by what a listing may call them.
class KnownNics {
 public:
  explicit KnownNics(const Survey& survey) {
    std::map<int, std::string> machines;
    for (const Node& node : survey.graph.nodes)
      if (node.kind == NodeKind::Machine) machines[node.host] = survey.facts(node.host).hostname.value_or(node.name);
    for (const Node& node : survey.graph.nodes) {
      if (node.kind != NodeKind::Nic) continue;
      const std::string host = machines[node.host].substr(0, machines[node.host].find('.'));
      for (const std::string& name : node.names) by_name_.emplace(std::pair(host, name), node.id);
      by_name_.emplace(std::pair(host, node.name), node.id);
      const DeviceFacts* facts = survey.facts(node.host).device(node.name);
      if (facts != nullptr && facts->guid) by_guid_.emplace(bare_digits(*facts->guid), node.id);
    }
  }

  int find(const Cables::Adapter& adapter) const {
    if (const auto found = by_guid_.find(bare_digits(adapter.guid)); found != by_guid_.end()) return found->second;
    const auto found = by_name_.find({adapter.host.substr(0, adapter.host.find('.')), adapter.device});
    return found == by_name_.end() ? -1 : found->second;
  }

 private:
  std::map<std::string, int> by_guid_;
  std::map<std::pair<std::string, std::string>, int> by_name_;
};

// The rate of a NIC's ports is that of its cables, where nothing else told it.
void set_port_rates(Graph& graph, const Cables& cables, const std::vector<int>& nics) {
  std::map<int, std::optional<double>> rates;  // of NICs with a cable; nothing if one has no rate
  for (const Cables::Cable& cable : cables.cables)
    for (int end : {cable.a, cable.b}) {
      if (end >= 0) continue;
      std::optional<double>& sum = rates.try_emplace(nics[Cables::adapter_index(end)], 0.0).first->second;
      if (cable.assumed)
        sum.reset();
      else if (sum)
        *sum += cable.gbs;
    }
  for (const auto& [nic, gbs] : rates) {
    if (nic < 0) continue;
    Node& node = graph.nodes[static_cast<std::size_t>(nic)];
    if (!node.network_gbs) node.network_gbs = gbs;
    if (!node.active) node.active = true;
  }
}

void finish(Survey& survey, Cables& cables, const std::vector<int>& nics) {
  set_port_rates(survey.graph, cables, nics);
  fold_equal_switches(cables);
  add_network(survey.graph, cables, nics, FabricSpec{}.latency_us);
}

}  // namespace

bool is_ibnetdiscover(std::string_view text) {
  const std::string_view start = text.substr(0, std::size_t{64} << 10);
  return start.find("\nswitchguid=") != std::string_view::npos || start.find("\ncaguid=") != std::string_view::npos ||
         start.starts_with("switchguid=") || start.starts_with("caguid=") ||
         start.find("\nSwitch\t") != std::string_view::npos;
}

Result<Survey> read_ibnetdiscover(const std::string& path, std::string_view text) {
  WEFT_TRY_ASSIGN(Cables cables, ListingReader(path).read(text));
  if (cables.adapters.empty())
    return import_error(path, 0, "has no host adapter (\"Ca\"); a fabric without hosts is none");
  Survey survey;
  survey.source = "ibnetdiscover";
  survey.graph.name = "fabric";
  ListedHosts hosts(survey);
  std::vector<int> nics;
  for (const Cables::Adapter& adapter : cables.adapters) nics.push_back(hosts.nic_of(adapter));
  if (survey.hosts.size() > static_cast<std::size_t>(kMaxHosts))
    return import_error(path, 0, fmt::format("more than {} hosts", kMaxHosts));
  finish(survey, cables, nics);
  WEFT_TRY(survey.graph.check().with_context(path));
  return survey;
}

Result<Survey> join_by_ibnetdiscover(const std::string& path, std::string_view text, Survey hosts) {
  WEFT_TRY_ASSIGN(Cables cables, ListingReader(path).read(text));
  const KnownNics known(hosts);
  std::vector<int> nics;
  std::set<int> joined;
  std::size_t strangers = 0;
  for (const Cables::Adapter& adapter : cables.adapters) {
    nics.push_back(known.find(adapter));
    if (nics.back() < 0 || !joined.insert(nics.back()).second) nics.back() = -1, ++strangers;
  }
  if (joined.empty())
    return import_error(path, 0, "names no NIC of these hosts, neither by GUID nor by host and device name");
  if (strangers > 0)
    hosts.remarks.push_back({RemarkKind::Incomplete, path,
                             fmt::format("{} of {} adapters belong to no host of the survey", strangers, nics.size())});
  for (const Node& node : hosts.graph.nodes)
    if (node.kind == NodeKind::Nic && node.fabric && node.active.value_or(true) && !joined.contains(node.id))
      hosts.remarks.push_back({RemarkKind::Incomplete, fmt::format("host{}/{}", node.host, node.name),
                               "is in no line of the fabric's listing; it is left unjoined"});
  finish(hosts, cables, nics);
  return hosts;
}

}  // namespace weft::topology
