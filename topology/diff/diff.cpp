// diff_surveys(): what was lost, added or changed between matched hosts and devices.
#include "topology/diff/diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "topology/device_kinds.hpp"
#include "topology/diff/class_comparison.hpp"
#include "topology/diff/common_facts.hpp"
#include "topology/diff/flat_facts.hpp"
#include "topology/diff/match.hpp"
#include "topology/diff/tables.hpp"
#include "topology/diff/wiring.hpp"
#include "topology/export/node_words.hpp"
#include "topology/told.hpp"

namespace weft::topology {
namespace {

constexpr double kSameRate = 0.02;  // rates are rounded differently

bool differ(double a, double b) { return std::abs(a - b) > kSameRate * std::max(std::abs(a), std::abs(b)); }

class Comparison {
 public:
  Comparison(const Side& before, const Side& after, Relation relation, SurveyDiff& diff)
      : before_(before),
        after_(after),
        relation_(relation),
        diff_(diff),
        classes_(before, after),
        same_source_(before.survey.source == after.survey.source),
        devices_(diff.matches) {}

  void compare(const HostMatch& host) {
    host_ = host;
    compare_host();
    compare_devices();
    compare_wiring(before_, after_, host, devices_, diff_);
    classes_.compare(host, devices_.before_to_after,
                     [&](std::string subject, std::string what, std::string a, std::string b) {
                       add(ChangeKind::Changed, std::move(subject), std::move(what), std::move(a), std::move(b));
                     });
  }

 private:
  void add(ChangeKind kind, std::string subject, std::string what, std::string before, std::string after) {
    diff_.changes.push_back({kind, std::move(subject), std::move(what), std::move(before), std::move(after)});
  }
  template <typename T>
  void compare_known(const std::string& subject, std::string_view what, const std::optional<T>& before,
                     const std::optional<T>& after) {
    if (before && after && *before != *after)
      add(ChangeKind::Changed, subject, std::string(what), fmt::format("{}", *before), fmt::format("{}", *after));
  }

  std::string name(int before) const { return before_.locality.describe(before); }
  std::size_t count(const Side& side, int host, NodeKind kind) const {
    return static_cast<std::size_t>(
        std::count_if(side.graph().nodes.begin(), side.graph().nodes.end(),
                      [&](const Node& node) { return node.host == host && node.kind == kind; }));
  }

  void compare_host() {
    const Node& before = before_.node(before_.locality.machine(host_.before));
    const Node& after = after_.node(after_.locality.machine(host_.after));
    const std::string subject = relation_ == Relation::Alike ? std::string("machine") : before.name;
    compare_known(subject, "cores", before.cores, after.cores);
    if (!before.cpus.empty() && !after.cpus.empty() && before.cpus != after.cpus)
      add(ChangeKind::Changed, subject, "cpus", before.cpus, after.cpus);
    const std::size_t packages[2] = {count(before_, host_.before, NodeKind::Package),
                                     count(after_, host_.after, NodeKind::Package)};
    if (packages[0] > 0 && packages[1] > 0 && packages[0] != packages[1])
      add(ChangeKind::Changed, subject, "packages", fmt::format("{}", packages[0]), fmt::format("{}", packages[1]));
    compare_cpu_models();
    compare_numa_nodes(subject);
    compare_facts(subject, before_.survey.facts(host_.before), after_.survey.facts(host_.after));
  }

  // Packages of one number.
  void compare_cpu_models() {
    for (int package : before_.locality.packages(host_.before))
      for (int other : after_.locality.packages(host_.after)) {
        const Node& a = before_.node(package);
        const Node& b = after_.node(other);
        if (a.os_index == b.os_index && !a.model.empty() && !b.model.empty() && a.model != b.model)
          add(ChangeKind::Changed, a.name, "CPU model", a.model, b.model);
      }
  }

  // Nodes of other numbers are other nodes: then only their number is told.
  void compare_numa_nodes(const std::string& subject) {
    same_numa_ = true;
    const std::vector<int>& before = before_.locality.numas(host_.before);
    const std::vector<int>& after = after_.locality.numas(host_.after);
    if (tells_all_numa_nodes(before_.survey) && tells_all_numa_nodes(after_.survey) && before.size() != after.size()) {
      same_numa_ = false;
      return add(ChangeKind::Changed, subject, "NUMA nodes", fmt::format("{}", before.size()),
                 fmt::format("{}", after.size()));
    }
    std::map<int, int> by_index;
    for (int numa : after) by_index[after_.node(numa).os_index.value_or(-1)] = numa;
    for (int numa : before) {
      const Node& a = before_.node(numa);
      const auto found = by_index.find(a.os_index.value_or(-1));
      if (found == by_index.end() || !a.os_index) continue;
      const Node& b = after_.node(found->second);
      if (!a.cpus.empty() && !b.cpus.empty() && a.cpus != b.cpus)
        add(ChangeKind::Changed, a.name, "cpus", a.cpus, b.cpus);
      if (a.memory_bytes && b.memory_bytes &&
          differ(static_cast<double>(*a.memory_bytes), static_cast<double>(*b.memory_bytes)))
        add(ChangeKind::Changed, a.name, "memory", memory_words(*a.memory_bytes), memory_words(*b.memory_bytes));
    }
  }

  // Without what is each machine's own, where there are two.
  template <typename Facts>
  std::map<std::string, std::string> table_of(const Facts& facts) const {
    return flat_facts(relation_ == Relation::Alike ? common_facts(facts) : facts);
  }
  template <typename Facts>
  void compare_facts(const std::string& subject, const Facts& before, const Facts& after) {
    compare_tables(subject, table_of(before), table_of(after), same_source_, diff_.changes);
  }

  // GPUs, NICs and storage of one side, each with whether the other side would show them.
  std::vector<std::pair<const std::vector<int>*, bool>> kinds_of(const Side& side, int host, const Side& other,
                                                                 int other_host) const {
    std::vector<std::pair<const std::vector<int>*, bool>> kinds = {
        {&side.locality.gpus(host), tells_gpus(other.survey, other.locality, other_host)},
        {&side.locality.nics(host), tells_nics(other.survey, other.locality, other_host)}};
    if (compares_storage(before_, after_, host_, relation_)) kinds.emplace_back(&side.locality.storage(host), true);
    return kinds;
  }

  void compare_devices() {
    for (const auto& [ids, told] : kinds_of(before_, host_.before, after_, host_.after))
      for (int id : *ids) {
        const auto found = devices_.before_to_after.find(id);
        if (found != devices_.before_to_after.end())
          compare_device(id, found->second);
        else if (told)
          add(ChangeKind::Lost, name(id), "device", describe_node(before_.node(id), before_.locality), "");
      }
    for (const auto& [ids, told] : kinds_of(after_, host_.after, before_, host_.before))
      for (int id : *ids)
        if (told && !devices_.after_to_before.contains(id))
          add(ChangeKind::Added, after_.locality.describe(id), "device", "",
              describe_node(after_.node(id), after_.locality));
  }

  void compare_device(int before, int after) {
    const Node& a = before_.node(before);
    const Node& b = after_.node(after);
    const std::string subject = name(before);
    if (!a.device.empty() && !b.device.empty() && a.device != b.device)
      add(ChangeKind::Changed, subject, "device id", a.device, b.device);
    compare_numa(subject, before, after);
    // A source that states one speed may mean the best one, and idle GPUs lower theirs.
    compare_known(subject, "PCIe lanes", a.pci.width, b.pci.width);
    if (same_source_ && !slows_link_when_idle(a.device)) compare_known(subject, "PCIe GT/s", a.pci.gts, b.pci.gts);
    compare_known(subject, "most PCIe lanes", a.pci.max_width, b.pci.max_width);
    compare_known(subject, "most PCIe GT/s", a.pci.max_gts, b.pci.max_gts);
    if (a.network_gbs && b.network_gbs && differ(*a.network_gbs, *b.network_gbs))
      add(ChangeKind::Changed, subject, "network Gbit/s", fmt::format("{:g}", *a.network_gbs * 8),
          fmt::format("{:g}", *b.network_gbs * 8));
    if (a.active && b.active && *a.active != *b.active)
      add(ChangeKind::Changed, subject, "port", *a.active ? "up" : "down", *b.active ? "up" : "down");
    const DeviceFacts* before_facts = before_.facts(before);
    const DeviceFacts* after_facts = after_.facts(after);
    if (before_facts != nullptr && after_facts != nullptr) compare_facts(subject, *before_facts, *after_facts);
  }

  void compare_numa(const std::string& subject, int before, int after) {
    if (!same_numa_) return;
    const auto words = [](const Side& side, int id) {
      std::string list;
      for (int numa : side.locality.numa_nodes_of(id))
        list += fmt::format("{}{}", list.empty() ? "" : ",", side.node(numa).os_index.value_or(-1));
      return list;
    };
    const std::string a = words(before_, before);
    const std::string b = words(after_, after);
    if (a == b || (a.empty() && !tells_bridges(before_, host_.before)) ||
        (b.empty() && !tells_bridges(after_, host_.after)))
      return;
    const ChangeKind kind = a.empty() ? ChangeKind::Added : b.empty() ? ChangeKind::Lost : ChangeKind::Changed;
    add(kind, subject, "NUMA node", a, b);
  }

  const Side& before_;
  const Side& after_;
  const Relation relation_;
  SurveyDiff& diff_;
  ClassComparison classes_;
  const bool same_source_;
  const MatchedDevices devices_;
  HostMatch host_{0, 0};
  bool same_numa_ = true;
};

}  // namespace

SurveyDiff diff_surveys(const Survey& before, const Survey& after, Relation relation) {
  Locality before_locality(before.graph);
  Locality after_locality(after.graph);
  const Side a{before, before_locality};
  const Side b{after, after_locality};
  const std::vector<HostMatch> hosts = match_hosts(a, b);
  SurveyDiff diff;
  diff.matches = match_devices(a, b, hosts, relation);
  Comparison comparison(a, b, relation, diff);
  std::set<int> matched_before;
  std::set<int> matched_after;
  for (const HostMatch& host : hosts) {
    comparison.compare(host);
    matched_before.insert(host.before);
    matched_after.insert(host.after);
  }
  for (int machine : before.graph.ids(NodeKind::Machine))
    if (const Node& node = a.node(machine); !matched_before.contains(node.host))
      diff.changes.push_back({ChangeKind::Lost, node.name, "host", "there", ""});
  for (int machine : after.graph.ids(NodeKind::Machine))
    if (const Node& node = b.node(machine); !matched_after.contains(node.host))
      diff.changes.push_back({ChangeKind::Added, node.name, "host", "", "there"});
  return diff;
}

}  // namespace weft::topology
