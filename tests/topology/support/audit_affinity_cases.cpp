// Cases of the rules about where a process runs, and about the environment of a job.
#include "audit_cases.hpp"

namespace weft::topology::audit {
namespace {

// CPUs 0-7 and 8-15, two GPUs on each socket.
Machine server() {
  Machine machine("packages:2 cores:8 gpu:4 gpus_per_switch:2 nic:2 ndr");
  machine.host().process.allowed_cpus = "0-15";
  return machine;
}

Machine rank(std::string_view gpu, std::string_view cpus) {
  Machine machine = server();
  machine.set("CUDA_VISIBLE_DEVICES", gpu);
  machine.host().process.allowed_cpus = std::string(cpus);
  return machine;
}

void add_masks(std::vector<Case>& cases) {
  cases.push_back(
      fires("affinity.cpuset_narrow", "2 of 8 CPUs near the GPU", rank("0", "0-1"), "2 of the 8 near gpu0"));
  cases.push_back(silent("affinity.cpuset_narrow", "a fair share among two GPUs", rank("0", "0-3")));
  cases.push_back(silent("affinity.cpuset_narrow", "not bound", server()));
  cases.push_back(fires("affinity.remote_cpu", "bound to the far socket", rank("0", "8-11"), "near gpu0 are 0-7"));
  cases.push_back(silent("affinity.remote_cpu", "bound to the near socket", rank("0", "0-3")));
  // The driver counts the GPUs of the second socket first.
  const auto turned = [](std::string_view cpus) {
    Machine machine = server();
    for (int i = 0; i < 4; ++i) {
      Node& gpu = machine.node("gpu" + std::to_string(i));
      gpu.device = "1002:7408";
      gpu.names = {"rsmi" + std::to_string(i ^ 2)};
    }
    machine.set("ROCR_VISIBLE_DEVICES", "0");
    machine.host().process.allowed_cpus = std::string(cpus);
    return machine;
  };
  cases.push_back(fires("affinity.remote_cpu", "far as the driver counts", turned("0-7"), "near gpu2 are 8-15"));
  cases.push_back(silent("affinity.remote_cpu", "near as the driver counts", turned("8-15")));
  Machine all = server();
  all.host().process.allowed_cpus = "8-11";
  cases.push_back(silent("affinity.remote_cpu", "near to some of the GPUs it sees", all));
  Machine far = rank("0", "8-11");
  far.host().container.cgroup_cpus = "8-11";
  cases.push_back(silent("affinity.remote_cpu", "the cgroup has no near CPU", far));
  cases.push_back(fires("affinity.empty_intersection", "the cgroup has no near CPU", far, "the cgroup has CPUs 8-11"));
  cases.push_back(silent("affinity.empty_intersection", "narrowed by taskset alone", rank("0", "8-11")));
}

void add_launchers(std::vector<Case>& cases) {
  Machine unbound = server();
  cases.push_back(silent("affinity.unbound", "no launcher", unbound));
  unbound.set("LOCAL_RANK", "3");
  cases.push_back(fires("affinity.unbound", "a rank of torchrun", unbound, "2 NUMA nodes"));
  unbound.host().process.allowed_cpus = "0-7";
  cases.push_back(silent("affinity.unbound", "bound", unbound));

  Machine pages = rank("0", "0-7");
  pages.host().process.resident = {{0, 78'000}, {1, 22'000}};
  cases.push_back(fires("affinity.remote_pages", "22% on the far node", pages, "22%"));
  pages.host().process.resident = {{0, 95'000}, {1, 5'000}};
  cases.push_back(silent("affinity.remote_pages", "5% on the far node", pages));
  Machine everywhere = server();
  everywhere.host().process.resident = {{0, 50'000}, {1, 50'000}};
  cases.push_back(silent("affinity.remote_pages", "not bound", everywhere));

  Machine cgroup = server();
  cgroup.host().container.cgroup_memories = "1";
  cases.push_back(fires("container.cpuset_misses_numa", "no memory near two GPUs", cgroup, "gpu0, gpu1 are on it"));
  cgroup.host().container.cgroup_memories = "0-1";
  cases.push_back(silent("container.cpuset_misses_numa", "memory of both nodes", cgroup));
  cgroup.host().process.allowed_cpus.reset();
  cgroup.host().container.cgroup_cpus = "8-15";
  cases.push_back(fires("container.cpuset_misses_numa", "no CPU near two GPUs", cgroup, "the cgroup has CPUs 8-15"));
}

void add_environment(std::vector<Case>& cases) {
  Machine guest("packages:2 cores:4 gpu:2 gpus_per_switch:1");
  guest.virtual_machine(true);
  for (const char* gpu : {"gpu0", "gpu1"}) {
    guest.node(gpu).device = "10de:1eb8";
    guest.node(gpu).pci = PciLink();
    for (Link& link : guest.survey().graph.links)
      if (link.b == guest.node(gpu).id) link.source = "assumed";
  }
  guest.host().platform.cpu_vendor = "GenuineIntel";
  cases.push_back(fires("env.suggest", "PCIe GPUs of an Intel guest", guest, "NCCL_P2P_LEVEL=PXB"));
  Machine set = guest;
  set.set("NCCL_P2P_DISABLE", "1");
  cases.push_back(silent("env.suggest", "a setting is there", set));
  guest.virtual_machine(false);
  cases.push_back(silent("env.suggest", "a physical machine", guest));

  Machine cross("hosts:2 gpu:4 gpus_per_switch:1 nic:4 ndr", 2);
  cross.set("NCCL_CROSS_NIC", "2");
  cases.push_back(silent("env.cross_nic", "all NICs on one switch", cross));
  Node spine;
  spine.kind = NodeKind::NetworkSwitch;
  spine.name = "leaf1";
  spine.host = -1;
  const int leaf = cross.survey().graph.add(spine);
  for (Link& link : cross.survey().graph.links)
    if (link.kind == LinkKind::Network &&
        (link.a == cross.node("host0/nic3").id || link.b == cross.node("host0/nic3").id))
      (cross.survey().graph.nodes[static_cast<std::size_t>(link.a)].kind == NodeKind::NetworkSwitch ? link.a : link.b) =
          leaf;
  cases.push_back(fires("env.cross_nic", "NICs on two switches", cross, "4 NICs hang on 2 switches"));
  Machine cards("gpu:2 gpus_per_switch:1 nic:2 ndr");
  cards.set("NCCL_CROSS_NIC", "2");
  cases.push_back(silent("env.cross_nic", "cards with one port", cards));
  cards.node("nic0").bus_id = "0000:17:00.0";
  cards.node("nic1").bus_id = "0000:17:00.1";
  cases.push_back(fires("env.cross_nic", "a card with two ports", cards, "two ports", Severity::Info));

  Machine efa("packages:2 gpu:8 gpus_per_switch:2 nic:4 efa100");
  cases.push_back(silent("env.no_net_pin", "the environment is not known", efa));
  efa.set("FI_PROVIDER", "efa");
  cases.push_back(fires("env.no_net_pin", "EFA without NCCL_NET", efa, "4 EFA devices"));
  efa.set("NCCL_NET", "AWS Libfabric");
  cases.push_back(silent("env.no_net_pin", "the network is named", efa));
}

}  // namespace

void add_affinity_cases(std::vector<Case>& cases) {
  add_masks(cases);
  add_launchers(cases);
  add_environment(cases);
}

}  // namespace weft::topology::audit
