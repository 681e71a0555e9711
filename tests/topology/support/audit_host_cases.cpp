// Cases of the rules about kernel, firmware, virtual machines, containers and limits.
#include "audit_cases.hpp"

namespace weft::topology::audit {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

Machine server() { return Machine("packages:2 cores:4 gpu:4 gpus_per_switch:2 nic:2 ndr"); }

void add_kernel(std::vector<Case>& cases) {
  Machine iommu = server();
  iommu.host().kernel.iommu_type = "DMA-FQ";
  cases.push_back(silent("kernel.iommu_translating", "whether it is a guest is not known", iommu));
  iommu.virtual_machine(false);
  cases.push_back(fires("kernel.iommu_translating", "DMA-FQ on bare metal", iommu, "DMA-FQ on bare metal"));
  iommu.virtual_machine(true);
  cases.push_back(silent("kernel.iommu_translating", "in a virtual machine", iommu));
  iommu.virtual_machine(false);
  iommu.host().kernel.iommu_type = "identity";
  cases.push_back(silent("kernel.iommu_translating", "passthrough", iommu));
  Machine line = server();
  line.virtual_machine(false);
  line.host().kernel.command_line = "ro intel_iommu=on";
  cases.push_back(fires("kernel.iommu_translating", "by the command line", line, "command line"));
  line.host().kernel.command_line = "ro intel_iommu=on iommu=pt";
  cases.push_back(silent("kernel.iommu_translating", "iommu=pt", line));
  Machine laptop("packages:1 cores:4 gpu:1");
  laptop.virtual_machine(false);
  laptop.host().kernel.iommu_type = "DMA-FQ";
  cases.push_back(silent("kernel.iommu_translating", "a laptop with one GPU", laptop));

  Machine balancing = server();
  balancing.host().kernel.numa_balancing = true;
  cases.push_back(fires("kernel.numa_balancing", "on", balancing, "is 1 on a host with 2 NUMA nodes"));
  Machine without_gpus("packages:2 nic:1 hdr");
  without_gpus.host().kernel.numa_balancing = true;
  cases.push_back(fires("kernel.numa_balancing", "on, without GPUs", without_gpus, "2 NUMA nodes and 1 fabric NIC"));
  balancing.host().kernel.numa_balancing = false;
  cases.push_back(silent("kernel.numa_balancing", "off", balancing));
  Machine desktop("packages:1 cores:4 gpu:1");
  desktop.host().kernel.numa_balancing = true;
  cases.push_back(silent("kernel.numa_balancing", "one NUMA node", desktop));
}

// Two packages below one NUMA node's worth of memory.
Machine flat() {
  Machine machine = server();
  for (Node& node : machine.survey().graph.nodes)
    if (node.kind == NodeKind::Numa && node.name != "numa0") node.cpus.clear();
  return machine;
}

Machine flat_with_cpus(const char* vendor, int family, int model) {
  Machine machine = flat();
  PlatformFacts& platform = machine.host().platform;
  platform.cpu_vendor = vendor;
  platform.cpu_family = family;
  platform.cpu_model = model;
  return machine;
}

void add_numa(std::vector<Case>& cases) {
  Machine off = flat();
  off.host().kernel.command_line = "ro quiet numa=off";
  cases.push_back(fires("kernel.numa_off", "two packages, one node", off, "2 packages but 1 NUMA node"));
  cases.push_back(fires("kernel.numa_off", "the command line is told", off, "numa=off"));
  cases.push_back(silent("kernel.numa_off", "CPUs that are not known", flat()));
  cases.push_back(silent("kernel.numa_off", "memory behind one hub", flat_with_cpus("GenuineIntel", 6, 29)));
  Machine pentium = flat_with_cpus("GenuineIntel", 15, 4);
  cases.push_back(silent("kernel.numa_off", "Pentium 4", pentium));
  pentium.host().platform.cpu_architecture = "i686";
  cases.push_back(silent("kernel.numa_off", "Pentium 4 of 32 bits", pentium));
  cases.push_back(
      fires("kernel.numa_off", "AMD's", flat_with_cpus("AuthenticAMD", 25, 1), "2 packages but 1 NUMA node"));
  Machine arm = flat();
  arm.host().platform.cpu_architecture = "arm64";
  cases.push_back(fires("kernel.numa_off", "ARM", arm, "2 packages but 1 NUMA node"));
  Machine skylake = flat_with_cpus("GenuineIntel", 6, 85);
  cases.push_back(fires("kernel.numa_off", "node interleaving", skylake, "2 packages but 1 NUMA node"));
  skylake.host().kernel.numa = false;
  cases.push_back(silent("kernel.numa_off", "a source that tells no NUMA nodes", skylake));
  Machine guest = flat_with_cpus("GenuineIntel", 6, 85);
  guest.virtual_machine(true);
  cases.push_back(silent("kernel.numa_off", "a guest whose sockets are fiction", guest));
  cases.push_back(silent("kernel.numa_off", "two nodes", server()));

  Machine epyc("packages:2 cores:8 gpu:4 gpus_per_switch:1 nic:1 ndr");
  for (const char* package : {"package0", "package1"}) epyc.node(package).model = "AMD EPYC 7763 64-Core Processor";
  for (int i = 0; i < 4; ++i) epyc.node("gpu" + std::to_string(i)).device = "10de:20b5";
  epyc.move("nic0", "pci3");
  cases.push_back(silent("bios.nps", "whether it is a guest is not known", epyc));
  epyc.virtual_machine(false);
  cases.push_back(fires("bios.nps", "NPS1, GPUs through the CPU", epyc, "NPS1"));
  for (int i = 0; i < 4; ++i) epyc.node("gpu" + std::to_string(i)).device = "1002:74a1";
  cases.push_back(silent("bios.nps", "AMD GPUs", epyc));
  Machine dgx("dgx-a100");
  dgx.virtual_machine(false);
  cases.push_back(silent("bios.nps", "NPS4", dgx));
}

void add_memory(std::vector<Case>& cases) {
  Machine machine = server();
  machine.node("numa0").memory_bytes = 512 * 1024 * kMiB;
  machine.node("numa1").memory_bytes = 0;
  cases.push_back(fires("bios.numa_without_memory", "a socket without DIMMs", machine, "0 bytes of memory"));
  cases.push_back(silent("bios.memory_uneven", "a node without any is told elsewhere", machine));
  machine.node("numa1").memory_bytes = 480 * 1024 * kMiB;
  cases.push_back(silent("bios.numa_without_memory", "both have memory", machine));
  cases.push_back(silent("bios.memory_uneven", "within a tenth", machine));
  machine.node("numa1").memory_bytes = 448 * 1024 * kMiB;
  cases.push_back(fires("bios.memory_uneven", "a DIMM is missing", machine, "has 448 GiB, another node 512 GiB"));
  cases.push_back(silent("bios.memory_uneven", "memory is not told", server()));
  Machine fast("packages:2 numa:4 cores:4 gpu:4 nic:2 ndr");  // numa1 and numa3 are HBM
  for (int i = 0; i < 4; ++i) {
    fast.node("numa" + std::to_string(i)).memory_bytes = (i % 2 == 0 ? 256 : 64) * 1024 * kMiB;
    if (i % 2 == 1)
      fast.node("numa" + std::to_string(i)).cpus = std::to_string(4 * (i - 1));  // some of numa0's, numa2's
  }
  cases.push_back(silent("bios.memory_uneven", "HBM beside DIMMs", fast));
  cases.push_back(silent("bios.numa_without_memory", "memory is not told", server()));
}

void add_guests(std::vector<Case>& cases) {
  Machine hidden("packages:1 cores:8 gpu:4 gpus_per_switch:1 nic:4 ndr");
  for (int i = 0; i < 4; ++i) hidden.move("nic" + std::to_string(i), "pci" + std::to_string((i + 1) % 4));
  for (int i = 0; i < 4; ++i) hidden.device("gpu" + std::to_string(i)).numa = -1;
  cases.push_back(silent("vm.topology_hidden", "a physical machine", hidden));
  hidden.virtual_machine(true);
  hidden.host().platform.hypervisor = "kvm";
  cases.push_back(fires("vm.topology_hidden", "no pair below one switch", hidden, "4 GPUs and 4 NICs"));
  Machine told = hidden;
  told.set("NCCL_TOPO_FILE", "/etc/topo.xml");
  cases.push_back(silent("vm.topology_hidden", "a topology file is given", told));
  Machine shown("packages:1 cores:8 gpu:4 gpus_per_switch:1 nic:4 ndr");
  shown.virtual_machine(true);
  cases.push_back(silent("vm.topology_hidden", "a guest that shows switches", shown));

  Machine azure("packages:2 cores:4 gpu:8 gpus_per_switch:1 nic:8 ndr");
  azure.virtual_machine(true);
  azure.host().platform.vendor = "Microsoft Corporation";
  azure.host().topology_file_present = false;
  cases.push_back(silent("vm.topology_file_missing", "the environment is not known", azure));
  azure.set("");
  cases.push_back(fires("vm.topology_file_missing", "Azure without its file", azure, "8 GPUs"));
  Machine present = azure;
  present.host().topology_file_present = true;
  cases.push_back(silent("vm.topology_file_missing", "the file is there", present));
  azure.host().platform.vendor = "Dell Inc.";
  cases.push_back(silent("vm.topology_file_missing", "another platform", azure));
}

void add_limits(std::vector<Case>& cases) {
  Machine machine = server();
  machine.host().container.shm_bytes = 64 * kMiB;
  cases.push_back(
      fires("limits.shm_small", "Docker's default with 4 GPUs", machine, "NCCL needs about 76 MiB", Severity::Error));
  machine.host().container.shm_bytes = 512 * kMiB;
  cases.push_back(fires("limits.shm_small", "half a GiB", machine, "holds 512 MiB", Severity::Warning));
  cases.push_back(fires("limits.shm_small", "no container", machine, "outside of containers mount -o remount,size=8g"));
  Case known = silent("limits.shm_small", "the site has another threshold", machine);
  known.site.thresholds.shm_bytes = 256 * kMiB;
  cases.push_back(known);
  for (const char* numa : {"numa0", "numa1"}) machine.node(numa).memory_bytes = 512 * kMiB;
  cases.push_back(silent("limits.shm_small", "half of a small machine's memory", machine));
  machine.host().container.shm_bytes = 8192 * kMiB;
  cases.push_back(silent("limits.shm_small", "8 GiB", machine));

  Machine locked = server();
  locked.host().process.memlock_bytes = 8 * kMiB;
  locked.host().process.may_lock_all = false;
  cases.push_back(fires("limits.memlock", "8 MiB", locked, "may lock 8192 KiB"));
  cases.push_back(silent("container.cap_ipc_lock", "outside of a container", locked));
  Machine inside = locked;
  inside.host().container.kind = "kubernetes";
  cases.push_back(silent("limits.memlock", "a container is told by container.cap_ipc_lock", inside));
  cases.push_back(fires("container.cap_ipc_lock", "a pod", inside, "CAP_IPC_LOCK is not in CapEff"));
  inside.host().process.may_lock_all = true;
  cases.push_back(silent("container.cap_ipc_lock", "with the capability", inside));
  locked.host().process.memlock_bytes = kUnlimited;
  cases.push_back(silent("limits.memlock", "unlimited", locked));
  Machine ethernet("packages:1 nic:1 eth:10");
  ethernet.host().process.memlock_bytes = 8 * kMiB;
  cases.push_back(silent("limits.memlock", "no RDMA device", ethernet));
}

}  // namespace

void add_host_cases(std::vector<Case>& cases) {
  add_kernel(cases);
  add_numa(cases);
  add_memory(cases);
  add_guests(cases);
  add_limits(cases);
}

}  // namespace weft::topology::audit
