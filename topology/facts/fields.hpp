// The members of the facts, each named once. `visit(name, member)` is called for every one, on constant facts and on
// others: JSON is written and read by it, and hosts are compared by it.
#pragma once

#include <concepts>
#include <type_traits>

#include "topology/facts/facts.hpp"

namespace weft::topology {

template <typename T, typename Facts>
concept FactsOf = std::same_as<std::remove_const_t<T>, Facts>;

template <FactsOf<KernelFacts> T, typename Visit>
void visit_fields(T& kernel, Visit&& visit) {
  visit("version", kernel.version);
  visit("command_line", kernel.command_line);
  visit("numa", kernel.numa);
  visit("numa_balancing", kernel.numa_balancing);
  visit("transparent_hugepages", kernel.transparent_hugepages);
  visit("hugepages", kernel.hugepages);
  visit("governor", kernel.governor);
  visit("governors_differ", kernel.governors_differ);
  visit("iommu_present", kernel.iommu_present);
  visit("iommu_type", kernel.iommu_type);
  visit("modules", kernel.modules);
  visit("peer_memory_clients", kernel.peer_memory_clients);
  visit("nvidia_driver", kernel.nvidia_driver);
  visit("nvidia_open", kernel.nvidia_open);
}

template <FactsOf<PlatformFacts> T, typename Visit>
void visit_fields(T& platform, Visit&& visit) {
  visit("vendor", platform.vendor);
  visit("product", platform.product);
  visit("bios", platform.bios);
  visit("virtual_machine", platform.virtual_machine);
  visit("hypervisor", platform.hypervisor);
  visit("cpu_architecture", platform.cpu_architecture);
  visit("cpu_vendor", platform.cpu_vendor);
  visit("cpu_family", platform.cpu_family);
  visit("cpu_model", platform.cpu_model);
}

template <FactsOf<ContainerFacts> T, typename Visit>
void visit_fields(T& container, Visit&& visit) {
  visit("kind", container.kind);
  visit("cgroup_cpus", container.cgroup_cpus);
  visit("cgroup_memories", container.cgroup_memories);
  visit("memory_limit_bytes", container.memory_limit_bytes);
  visit("shm_bytes", container.shm_bytes);
  visit("infiniband_devices", container.infiniband_devices);
}

template <FactsOf<ResidentPages> T, typename Visit>
void visit_fields(T& resident, Visit&& visit) {
  visit("numa", resident.numa);
  visit("pages", resident.pages);
}

template <FactsOf<ProcessFacts> T, typename Visit>
void visit_fields(T& process, Visit&& visit) {
  visit("memlock_bytes", process.memlock_bytes);
  visit("open_files", process.open_files);
  visit("may_lock_all", process.may_lock_all);
  visit("allowed_cpus", process.allowed_cpus);
  visit("allowed_memories", process.allowed_memories);
  visit("resident", process.resident);
}

template <FactsOf<Variable> T, typename Visit>
void visit_fields(T& variable, Visit&& visit) {
  visit("name", variable.name);
  visit("value", variable.value);
}

template <FactsOf<InterfaceFacts> T, typename Visit>
void visit_fields(T& interface, Visit&& visit) {
  visit("name", interface.name);
  visit("kind", interface.kind);
  visit("state", interface.state);
  visit("speed_gbs", interface.speed_gbs);
  visit("mtu", interface.mtu);
  visit("mac", interface.mac);
  visit("bus_id", interface.bus_id);
  visit("master", interface.master);
  visit("addresses", interface.addresses);
  visit("default_route", interface.default_route);
}

template <FactsOf<GidFacts> T, typename Visit>
void visit_fields(T& gid, Visit&& visit) {
  visit("index", gid.index);
  visit("address", gid.address);
  visit("type", gid.type);
  visit("interface", gid.interface);
}

template <FactsOf<Counter> T, typename Visit>
void visit_fields(T& counter, Visit&& visit) {
  visit("name", counter.name);
  visit("value", counter.value);
}

template <FactsOf<PortFacts> T, typename Visit>
void visit_fields(T& port, Visit&& visit) {
  visit("number", port.number);
  visit("state", port.state);
  visit("physical_state", port.physical_state);
  visit("link_layer", port.link_layer);
  visit("rate_gbs", port.rate_gbs);
  visit("active_mtu", port.active_mtu);
  visit("lid", port.lid);
  visit("gids", port.gids);
  visit("errors", port.errors);
  visit("index", port.index);
}

template <FactsOf<AcsFacts> T, typename Visit>
void visit_fields(T& acs, Visit&& visit) {
  visit("source_validation", acs.source_validation);
  visit("request_redirect", acs.request_redirect);
  visit("completion_redirect", acs.completion_redirect);
  visit("upstream_forwarding", acs.upstream_forwarding);
  visit("direct_translated", acs.direct_translated);
}

template <FactsOf<NvLinkFacts> T, typename Visit>
void visit_fields(T& link, Visit&& visit) {
  visit("index", link.index);
  visit("active", link.active);
  visit("version", link.version);
  visit("remote_bus_id", link.remote_bus_id);
  visit("remote_kind", link.remote_kind);
  visit("gbs", link.gbs);
}

template <FactsOf<DeviceFacts> T, typename Visit>
void visit_fields(T& device, Visit&& visit) {
  visit("bus_id", device.bus_id);
  visit("node", device.node);
  visit("pci_class", device.pci_class);
  visit("kind", device.kind);
  visit("device", device.device);
  visit("verbs", device.verbs);
  visit("driver", device.driver);
  visit("uuid", device.uuid);
  visit("guid", device.guid);
  visit("mac", device.mac);
  visit("system_image_guid", device.system_image_guid);
  visit("firmware", device.firmware);
  visit("serial", device.serial);
  visit("numa", device.numa);
  visit("power_state", device.power_state);
  visit("physical_function", device.physical_function);
  visit("virtual_functions", device.virtual_functions);
  visit("acs", device.acs);
  visit("correctable_errors", device.correctable_errors);
  visit("nonfatal_errors", device.nonfatal_errors);
  visit("fatal_errors", device.fatal_errors);
  visit("iommu_group", device.iommu_group);
  visit("iommu_type", device.iommu_type);
  visit("ports", device.ports);
  visit("nvlinks", device.nvlinks);
  visit("index", device.index);
  visit("sm", device.sm);
  visit("instruction_set", device.instruction_set);
  visit("link_hidden", device.link_hidden);
  visit("gpu_direct", device.gpu_direct);
  visit("clock_mhz", device.clock_mhz);
  visit("max_clock_mhz", device.max_clock_mhz);
  visit("fabric_state", device.fabric_state);
  visit("fabric_registered_s", device.fabric_registered_s);
}

template <FactsOf<HostFacts> T, typename Visit>
void visit_fields(T& host, Visit&& visit) {
  visit("hostname", host.hostname);
  visit("kernel", host.kernel);
  visit("platform", host.platform);
  visit("container", host.container);
  visit("process", host.process);
  visit("shared_cores", host.shared_cores);
  visit("fabric_manager", host.fabric_manager);
  visit("fabric_manager_start_s", host.fabric_manager_start_s);
  visit("network_plugins", host.network_plugins);
  visit("topology_file_present", host.topology_file_present);
  visit("environment", host.environment);
  visit("interfaces", host.interfaces);
  visit("devices", host.devices);
}

}  // namespace weft::topology
