// Phase cpu: the machine and its packages.
#include "topology/probe/machine_probe.hpp"
#include "topology/read_file.hpp"

namespace weft::topology {
namespace {

std::string info_of(const Object& object, std::string_view name) {
  const std::string* value = object.info(name);
  std::string text = value != nullptr ? *value : "";
  text.erase(text.find_last_not_of(" \t\n") + 1);  // processors pad their names
  return text;
}

// hwloc names a recorded tree after the machine that reads it.
std::string host_name(const MachineProbe& probe, const Object& machine) {
  const bool recorded = !probe.root.empty() && probe.root != "/";
  const std::string name =
      recorded ? read_attribute(probe.root + "/proc/sys/kernel/hostname").value_or("") : info_of(machine, "HostName");
  return name.empty() ? "machine" : name;
}

}  // namespace

void probe_cpu(MachineProbe& probe) {
  const Object& root = probe.tree.at(0);
  probe.graph.name = host_name(probe, root);
  probe.builder.machine(probe.unique_name(probe.graph.name));
  Node& machine = probe.node(probe.builder.machine_id());
  machine.model = info_of(root, "DMIProductName");
  take_cpus(probe, root.cpus, machine);
  probe.node_of_object(0) = machine.id;
  for (int object : probe.tree.all(ObjectKind::Package)) {
    const Object& package = probe.tree.at(object);
    std::string model = info_of(package, "CPUModel");
    if (model.empty()) model = info_of(root, "CPUModel");
    const int id = probe.builder.package(package.index(), std::move(model));
    Node& node = probe.node(id);
    node.name = probe.unique_name(node.name);
    take_cpus(probe, package.cpus, node);
    probe.node_of_object(object) = id;
  }
  probe.builder.join_packages();
}

}  // namespace weft::topology
