// What the cases of the audit are made with.
#include "audit_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace weft::topology::audit {

Machine::Machine(std::string_view line, int hosts) {
  const Result<Graph> graph = model(line);
  EXPECT_TRUE(graph.has_value()) << line;
  if (graph) survey_.graph = *graph;
  survey_.source = "model";
  survey_.hosts.resize(static_cast<std::size_t>(hosts));
}

Node& Machine::node(std::string_view name) {
  const std::optional<int> id = survey_.graph.find(name);
  EXPECT_TRUE(id.has_value()) << name;
  return survey_.graph.nodes[static_cast<std::size_t>(id.value_or(0))];
}

DeviceFacts& Machine::device(std::string_view name, int index) {
  std::vector<DeviceFacts>& devices = host(index).devices;
  const auto found =
      std::find_if(devices.begin(), devices.end(), [&](const DeviceFacts& one) { return one.node == name; });
  if (found != devices.end()) return *found;
  devices.emplace_back().node = name;
  const std::string with_host = survey_.hosts.size() > 1 ? "host" + std::to_string(index) + "/" : "";
  devices.back().bus_id = node(with_host + std::string(name)).bus_id;
  return devices.back();
}

PortFacts& Machine::port(std::string_view nic, int index) {
  DeviceFacts& facts = device(nic, index);
  if (!facts.ports.empty()) return facts.ports.front();
  PortFacts& port = facts.ports.emplace_back();
  port.state = "ACTIVE";
  port.physical_state = "LinkUp";
  port.link_layer = "Ethernet";
  port.rate_gbs = 50;
  return port;
}

InterfaceFacts& Machine::interface(std::string_view name, std::string_view kind, std::string_view address, int index) {
  InterfaceFacts& interface = host(index).interfaces.emplace_back();
  interface.name = name;
  interface.kind = kind;
  interface.state = "up";
  if (!address.empty()) interface.addresses.emplace_back(address);
  return interface;
}

void Machine::set(std::string_view name, std::string_view value, int index) {
  std::optional<std::vector<Variable>>& environment = host(index).environment;
  if (!environment) environment.emplace();
  if (!name.empty()) environment->push_back({std::string(name), std::string(value)});
}

void Machine::move(std::string_view device, std::string_view to) {
  Node& moved = node(device);
  const int target = node(to).id;
  for (Link& link : survey_.graph.links) {
    if (link.kind != LinkKind::Pci) continue;
    if (link.b == moved.id && link.a == moved.parent) link.a = target;
    if (link.a == moved.id && link.b == moved.parent) link.b = target;
  }
  moved.parent = target;
}

Node& Machine::add_port(std::string_view device, PciLink pci, std::string_view id, std::string_view bus_id) {
  Node port;
  port.kind = NodeKind::PciBridge;
  port.name = "port-" + std::string(device);
  port.parent = node(device).parent;
  port.device = id;
  port.bus_id = bus_id;
  port.pci = pci;
  const int above = port.parent;
  const std::string name = port.name;
  const int made = survey_.graph.add(std::move(port));
  survey_.graph.connect(above, made, LinkKind::Pci, 63, 0.1, "spec");
  move(device, name);
  return survey_.graph.nodes[static_cast<std::size_t>(made)];
}

void Machine::name_all(std::string_view kind, int count, std::string_view device) {
  for (int i = 0; i < count; ++i) node(std::string(kind) + std::to_string(i)).device = std::string(device);
}

Case fires(std::string_view rule, std::string_view name, Survey survey, std::string evidence,
           std::optional<Severity> severity) {
  Case one;
  one.rule = rule;
  one.name = name;
  one.fires = true;
  one.survey = std::move(survey);
  one.evidence = std::move(evidence);
  one.severity = severity;
  return one;
}

Case silent(std::string_view rule, std::string_view name, Survey survey) {
  Case one = fires(rule, name, std::move(survey), "");
  one.fires = false;
  return one;
}

std::vector<Finding> findings_of(const Case& one) {
  if (one.before) return audit_rates(*one.before, one.survey, one.seconds, one.site);
  return audit(one.survey, one.site, one.reference ? &*one.reference : nullptr);
}

std::string told_of(const Survey& survey, std::string_view rule) {
  for (const Finding& one : audit(survey))
    if (one.id == rule)
      return std::string(to_string(one.severity)) + " " + std::string(one.id) + " " + one.subject + ": " +
             one.evidence + " | " + one.fix;
  return {};
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  add_pcie_cases(cases);
  add_host_cases(cases);
  add_affinity_cases(cases);
  add_network_cases(cases);
  add_roce_cases(cases);
  add_gpu_cases(cases);
  add_place_cases(cases);
  add_source_cases(cases);
  return cases;
}

}  // namespace weft::topology::audit
