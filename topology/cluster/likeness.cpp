// Statements of the graph and of the facts.
#include "topology/cluster/statements.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <optional>
#include <vector>

#include "base/parse.hpp"
#include "topology/device_kinds.hpp"
#include "topology/facts/fields.hpp"

namespace weft::topology::cluster {
namespace {

// Facts that differ between like nodes, or from one minute to the next.
constexpr std::array<std::string_view, 26> kOwn = {"hostname",
                                                   "uuid",
                                                   "guid",
                                                   "mac",
                                                   "serial",
                                                   "system_image_guid",
                                                   "addresses",
                                                   "resident",
                                                   "environment",
                                                   "interfaces",
                                                   "errors",
                                                   "gids",
                                                   "lid",
                                                   "correctable_errors",
                                                   "nonfatal_errors",
                                                   "fatal_errors",
                                                   "power_state",
                                                   "clock_mhz",
                                                   "iommu_group",
                                                   "fabric_registered_s",
                                                   "fabric_manager_start_s",
                                                   "node",
                                                   "bus_id",
                                                   "physical_function",
                                                   "index",
                                                   "infiniband_devices"};

// Parts of a command line that name the node or its disk.
constexpr std::array<std::string_view, 7> kOwnOptions = {
    "root=", "BOOT_IMAGE=", "initrd=", "ip=", "nfsroot=", "resume=", "BOOTIF="};

bool is_own(std::string_view name) { return std::find(kOwn.begin(), kOwn.end(), name) != kOwn.end(); }

std::string common_options(std::string_view command_line) {
  std::vector<std::string_view> kept;
  for (std::string_view option : base::split(command_line, ' '))
    if (!option.empty() && std::none_of(kOwnOptions.begin(), kOwnOptions.end(),
                                        [&](std::string_view own) { return option.starts_with(own); }))
      kept.push_back(option);
  return fmt::format("{}", fmt::join(kept, " "));
}

template <typename T>
concept HasFields = requires(T& value) {
  visit_fields(value, [](const char*, auto&) {});
};

// Walks facts; `prefix` is what stands before the name of a field.
class FactsWalk {
 public:
  explicit FactsWalk(const Statement& statement) : statement_(statement) {}

  template <HasFields T>
  void walk(const std::string& prefix, const T& facts) const {
    visit_fields(facts, [&](const char* name, const auto& member) {
      if (!is_own(name)) put(prefix.empty() ? name : prefix + "." + name, member);
    });
  }

 private:
  template <typename T>
  void put(const std::string& key, const std::optional<T>& value) const {
    if (value) put(key, *value);
  }
  template <HasFields T>
  void put(const std::string& key, const T& value) const {
    walk(key, value);
  }
  template <typename T>
  void put(const std::string& key, const std::vector<T>& list) const {
    for (std::size_t i = 0; i < list.size(); ++i) put(fmt::format("{}.{}", key, i), list[i]);
  }
  void put(const std::string& key, const std::vector<std::string>& list) const {
    statement_(key, fmt::format("{}", fmt::join(list, " ")));
  }
  void put(const std::string& key, const std::vector<DeviceFacts>& devices) const {
    for (const DeviceFacts& device : devices)
      walk(fmt::format("{}.{}", key, device.node.empty() ? device.bus_id : device.node), device);
  }
  void put(const std::string& key, const std::string& text) const {
    if (key == "kernel.command_line")
      statement_(key, common_options(text));
    else
      statement_(key, text);
  }
  void put(const std::string& key, bool yes) const { statement_(key, yes ? "yes" : "no"); }
  template <typename T>
  requires(std::integral<T> || std::floating_point<T>) void put(const std::string& key, T number) const {
    statement_(key, fmt::format("{}", number));
  }

  const Statement& statement_;
};

void state_node(const Graph& graph, const Node& node, const Statement& statement) {
  const std::string name = node.kind == NodeKind::Machine ? "machine" : node.name;
  const auto put = [&](std::string_view what, const auto& value) {
    statement(fmt::format("{}.{}", name, what), fmt::format("{}", value));
  };
  const auto known = [&](std::string_view what, const auto& value) {
    if (value) put(what, *value);
  };
  const auto text = [&](std::string_view what, const std::string& value) {
    if (!value.empty()) put(what, value);
  };
  put("kind", to_string(node.kind));
  if (node.parent >= 0) {
    const Node& parent = graph.nodes[static_cast<std::size_t>(node.parent)];
    put("below", parent.kind == NodeKind::Machine ? std::string("machine") : parent.name);
  }
  text("device", node.device);
  text("model", node.model);
  text("cpus", node.cpus);
  text("bus_id", node.bus_id);
  known("cores", node.cores);
  if (node.memory_bytes) put("memory_gib", std::llround(std::ldexp(static_cast<double>(*node.memory_bytes), -30)));
  known("pcie_width", node.pci.width);
  known("pcie_max_width", node.pci.max_width);
  if (!slows_link_when_idle(node.device)) known("pcie_gts", node.pci.gts);
  known("pcie_max_gts", node.pci.max_gts);
  known("network_gbs", node.network_gbs);
  known("active", node.active);
}

void state_link(const Graph& graph, const Link& link, const Statement& statement) {
  const auto name = [&](int id) {
    const Node& node = graph.nodes[static_cast<std::size_t>(id)];
    return node.kind == NodeKind::Machine ? std::string_view("machine") : std::string_view(node.name);
  };
  statement(fmt::format("{}-{}.{}", name(link.a), name(link.b), to_string(link.kind)),
            fmt::format("{} x {:.4g} GB/s", link.count, link.bandwidth_gbs / link.count));
}

void state_interfaces(const HostFacts& facts, const Statement& statement) {
  for (const InterfaceFacts& one : facts.interfaces) {
    if (one.kind != "physical" && one.kind != "bond") continue;  // others come and go with containers
    if (one.mtu) statement(fmt::format("interface.{}.mtu", one.name), fmt::format("{}", *one.mtu));
    if (one.state) statement(fmt::format("interface.{}.state", one.name), *one.state);
    if (one.speed_gbs) statement(fmt::format("interface.{}.gbs", one.name), fmt::format("{}", *one.speed_gbs));
  }
}

// FNV-1a, twice with different starts: 128 bits, so that thousands of nodes do not meet by chance.
class Hash {
 public:
  void add(std::string_view text) {
    for (char c : text) add_byte(static_cast<unsigned char>(c));
    add_byte(0xff);  // in no UTF-8
  }
  Likeness value() const { return value_; }

 private:
  void add_byte(unsigned char byte) {
    value_.first = (value_.first ^ byte) * 0x100000001b3;
    value_.second = (value_.second ^ byte ^ 0x5a) * 0x100000001b3;
  }
  Likeness value_{0xcbf29ce484222325, 0x84222325cbf29ce4};
};

}  // namespace

void state(const Survey& survey, const Statement& statement) {
  for (const Node& node : survey.graph.nodes)
    if (node.kind != NodeKind::NetworkSwitch) state_node(survey.graph, node, statement);
  for (const Link& link : survey.graph.links)
    if (link.kind != LinkKind::Network) state_link(survey.graph, link, statement);
  const HostFacts& facts = survey.facts(0);
  FactsWalk(statement).walk("", facts);
  state_interfaces(facts, statement);
  for (const Variable& variable : facts.environment.value_or(std::vector<Variable>()))
    for (std::string_view prefix : {"NCCL_", "RCCL_", "UCX_", "FI_"})
      if (variable.name.starts_with(prefix)) statement("environment." + variable.name, variable.value);
}

std::map<std::string, std::string> statements_of(const Survey& survey) {
  std::map<std::string, std::string> all;
  state(survey, [&](std::string_view key, std::string_view value) { all.emplace(key, value); });
  return all;
}

Likeness likeness_of(const Survey& survey) {
  Hash hash;
  state(survey, [&](std::string_view key, std::string_view value) { hash.add(key), hash.add(value); });
  return hash.value();
}

}  // namespace weft::topology::cluster
