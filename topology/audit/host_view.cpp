// What several rules ask of one host.
#include "topology/audit/host_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "topology/audit/host_answers.hpp"
#include "topology/device_facts.hpp"
#include "topology/device_kinds.hpp"

namespace weft::topology::audit {
namespace {

HostAnswers& answers_of(const Input& input, int host) { return input.answers[static_cast<std::size_t>(host)]; }

std::unordered_map<std::string_view, const DeviceFacts*> devices_by_name(const HostFacts& facts) {
  std::unordered_map<std::string_view, const DeviceFacts*> devices;
  for (const DeviceFacts& device : facts.devices)
    for (std::string_view name : {std::string_view(device.node), std::string_view(device.bus_id)})
      if (!name.empty()) devices.try_emplace(name, &device);
  return devices;
}

}  // namespace

const std::vector<int>& accelerators(const Input& input, int host) {
  return HostAnswers::once(answers_of(input, host).accelerators, [&] {
    std::vector<int> found = input.locality.gpus(host);
    std::erase_if(found, [&](int gpu) { return is_graphics_inside_cpu(input.locality.node(gpu).device); });
    return found;
  });
}

bool is_nvidia(const Input& input, int gpu) {
  const std::string& device = input.locality.node(gpu).device;
  if (!device.empty()) return device.starts_with("10de:");
  return input.survey.source.find("nvidia") != std::string::npos;
}

const DeviceFacts* device_facts(const Input& input, int node) {
  const Node& asked = input.locality.node(node);
  if (asked.host < 0) return nullptr;
  const auto& devices = HostAnswers::once(answers_of(input, asked.host).devices,
                                          [&] { return devices_by_name(input.facts(asked.host)); });
  for (std::string_view name : {std::string_view(asked.name), std::string_view(asked.bus_id)})
    if (const auto found = devices.find(name); found != devices.end()) return found->second;
  return nullptr;
}

bool is_virtual_function(const Input& input, int nic) {
  return topology::is_virtual_function(device_facts(input, nic));
}

std::optional<double> port_gbs(const Input& input, int nic) {
  return topology::port_gbs(input.locality.node(nic), device_facts(input, nic));
}

const std::vector<int>& usable_nics(const Input& input, int host) {
  return HostAnswers::once(answers_of(input, host).usable_nics, [&] {
    std::vector<int> found;
    for (int nic : input.locality.nics(host)) {
      const Node& node = input.locality.node(nic);
      if (node.fabric && node.active.value_or(true) && !is_virtual_function(input, nic)) found.push_back(nic);
    }
    return found;
  });
}

std::string verbs_name(const Input& input, int nic) {
  return topology::verbs_name(input.locality.node(nic), device_facts(input, nic));
}

bool hides_link(const Input& input, int device) {
  const DeviceFacts* facts = device_facts(input, device);
  return facts != nullptr && facts->link_hidden == true;
}

bool is_efa(const Node& nic) { return topology::is_efa(nic.device); }
bool is_slingshot(const Node& nic) { return topology::is_slingshot(nic.device); }

std::optional<bool> virtual_machine(const Input& input, int host) {
  if (const std::optional<bool>& told = input.facts(host).platform.virtual_machine) return told;
  for (const std::vector<int>& devices : {input.locality.gpus(host), input.locality.nics(host)})
    for (int device : devices) {
      const int bridge = input.locality.upstream_bridge(device);
      if (bridge >= 0 && is_emulated_bridge(input.locality.node(bridge).device)) return true;
    }
  return std::nullopt;
}

bool in_container(const Input& input, int host) { return input.facts(host).container.kind.has_value(); }

const std::string& host_name(const Input& input, int host) {
  return input.locality.node(input.locality.machine(host)).name;
}

std::string names_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 8;
  if (names.size() <= kMost + 1) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + kMost, ", "), names.size() - kMost);
}

std::string names_of(const Locality& locality, const std::vector<int>& nodes, bool whole) {
  std::vector<std::string> names;
  names.reserve(nodes.size());
  for (int node : nodes) names.push_back(whole ? locality.describe(node) : locality.node(node).name);
  return names_of(names);
}

std::vector<int> numas_with_cpus(const Locality& locality, int host) {
  std::vector<int> found;
  for (int numa : locality.numas(host))
    if (!locality.node(numa).cpus.empty()) found.push_back(numa);
  return found;
}

std::string local_cpus(const Input& input, int device) {
  const Node& node = input.locality.node(device);
  if (!node.cpus.empty()) return node.cpus;
  const int numa = ancestor_of(input.graph, device, NodeKind::Numa);
  return numa >= 0 ? input.locality.node(numa).cpus : std::string();
}

std::string_view cpu_model(const Input& input, int host) {
  for (int package : input.locality.packages(host))
    if (!input.locality.node(package).model.empty()) return input.locality.node(package).model;
  return {};
}

std::vector<PortView> ports_of_nic(const Input& input, int nic) {
  std::vector<PortView> views;
  const DeviceFacts* device = device_facts(input, nic);
  if (device == nullptr) return views;
  for (std::size_t i = 0; i < device->ports.size(); ++i)
    views.push_back(
        {nic, device, &device->ports[i], topology::verbs_name(input.survey, input.locality.node(nic), *device, i)});
  return views;
}

std::vector<PortView> ports_of(const Input& input, int host) {
  std::vector<PortView> views;
  if (input.facts(host).devices.empty()) return views;
  for (int nic : input.locality.nics(host)) {
    if (!input.locality.node(nic).fabric) continue;
    std::vector<PortView> of_nic = ports_of_nic(input, nic);
    std::move(of_nic.begin(), of_nic.end(), std::back_inserter(views));
  }
  return views;
}

std::string describe(const Input& input, const PortView& view) {
  const std::string name = input.locality.describe(view.nic);
  return view.device->ports.size() < 2 ? name : fmt::format("{} port {}", name, view.port->number);
}

}  // namespace weft::topology::audit
