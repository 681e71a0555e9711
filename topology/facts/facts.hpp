// Facts: what is known of a host besides its graph, and what the audit judges: kernel, platform, limits, container,
// network interfaces, drivers and the state of each device. Everything that a source may not tell is empty then;
// nothing is guessed, and 0 always means 0.
//
// fields.hpp names every member once; JSON and comparisons of hosts are made of that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::topology {

inline constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

struct KernelFacts {
  std::optional<std::string> version;       // "6.1.0-13-amd64"
  std::optional<std::string> command_line;  // /proc/cmdline
  std::optional<bool> numa;                 // whether it tells NUMA nodes; not where it was built without them
  std::optional<bool> numa_balancing;
  std::optional<std::string> transparent_hugepages;  // "always", "madvise", "never"
  std::optional<std::uint64_t> hugepages;            // reserved ones of 2 MiB
  std::optional<std::string> governor;               // of CPU 0: "performance"
  std::optional<bool> governors_differ;              // between CPUs
  std::optional<bool> iommu_present;                 // whether devices are in IOMMU groups
  std::optional<std::string> iommu_type;             // of the default domain: "identity", "DMA", "DMA-FQ"
  std::optional<std::vector<std::string>> modules;   // loaded ones that matter here: nvidia, nvidia_peermem, efa ...
  std::optional<std::vector<std::string>> peer_memory_clients;  // registered with ib_core: "nv_mem"
  std::optional<std::string> nvidia_driver;                     // "550.54.15"
  std::optional<bool> nvidia_open;                              // the open kernel modules, which can export DMA-BUF

  bool operator==(const KernelFacts&) const = default;
};

struct PlatformFacts {
  std::optional<std::string> vendor;   // DMI: "Dell Inc.", "QEMU", "Amazon EC2"
  std::optional<std::string> product;  // "PowerEdge XE9680", "p5.48xlarge"
  std::optional<std::string> bios;     // version
  std::optional<bool> virtual_machine;
  std::optional<std::string> hypervisor;        // "kvm", "xen", "hyper-v", "vmware"; unknown on bare metal
  std::optional<std::string> cpu_architecture;  // "x86_64", "arm64", "ppc64"
  std::optional<std::string> cpu_vendor;        // "GenuineIntel", "AuthenticAMD"
  std::optional<int> cpu_family;
  std::optional<int> cpu_model;

  bool operator==(const PlatformFacts&) const = default;
};

struct ContainerFacts {
  std::optional<std::string> kind;             // "docker", "kubernetes", "podman", "lxc", "apptainer", "slurm"
  std::optional<std::string> cgroup_cpus;      // list form, effective
  std::optional<std::string> cgroup_memories;  // NUMA nodes
  std::optional<std::uint64_t> memory_limit_bytes;
  std::optional<std::uint64_t> shm_bytes;                      // size of /dev/shm
  std::optional<std::vector<std::string>> infiniband_devices;  // names in /dev/infiniband

  bool operator==(const ContainerFacts&) const = default;
};

struct ResidentPages {
  int numa = 0;  // os index
  std::uint64_t pages = 0;

  bool operator==(const ResidentPages&) const = default;
};

// Of the process that looks, which under a launcher stands for its ranks.
struct ProcessFacts {
  std::optional<std::uint64_t> memlock_bytes;  // RLIMIT_MEMLOCK, soft; kUnlimited
  std::optional<std::uint64_t> open_files;     // RLIMIT_NOFILE, soft
  std::optional<bool> may_lock_all;            // CAP_IPC_LOCK
  std::optional<std::string> allowed_cpus;     // list form
  std::optional<std::string> allowed_memories;
  std::vector<ResidentPages> resident;  // anonymous memory by NUMA node

  bool operator==(const ProcessFacts&) const = default;
};

struct Variable {
  std::string name;
  std::string value;

  bool operator==(const Variable&) const = default;
};

struct InterfaceFacts {
  std::string name;
  std::optional<std::string> kind;   // "physical", "bond", "bridge", "veth", "vlan", "tun", "loopback", "virtual"
  std::optional<std::string> state;  // operstate: "up", "down"
  std::optional<double> speed_gbs;
  std::optional<int> mtu;
  std::optional<std::string> mac;
  std::optional<std::string> bus_id;   // of its device
  std::optional<std::string> master;   // of the bond or bridge it belongs to
  std::vector<std::string> addresses;  // "10.0.0.4", "fe80::1"
  std::optional<bool> default_route;

  bool operator==(const InterfaceFacts&) const = default;
};

struct GidFacts {
  int index = 0;
  std::string address;                   // "fe80:0000:...": as sysfs writes it
  std::optional<std::string> type;       // "IB/RoCE v1", "RoCE v2"
  std::optional<std::string> interface;  // "eth0"

  bool operator==(const GidFacts&) const = default;
};

struct Counter {
  std::string name;
  std::uint64_t value = 0;

  bool operator==(const Counter&) const = default;
};

// A port of an RDMA device.
struct PortFacts {
  int number = 1;
  std::optional<std::string> state;           // "ACTIVE", "DOWN", "INIT"
  std::optional<std::string> physical_state;  // "LinkUp", "Disabled", "Polling"
  std::optional<std::string> link_layer;      // "InfiniBand", "Ethernet", "Unspecified"
  std::optional<double> rate_gbs;             // as printed, also of a port that is down
  std::optional<int> active_mtu;              // bytes
  std::optional<int> lid;
  std::vector<GidFacts> gids;
  std::vector<Counter> errors;  // error counters since boot
  std::optional<int> index;     // of the net that NCCL makes of it

  bool active() const { return state == "ACTIVE"; }
  bool may_be_active() const { return !state || active(); }
  bool ethernet() const { return link_layer == "Ethernet"; }
  bool infiniband() const { return link_layer == "InfiniBand"; }

  bool operator==(const PortFacts&) const = default;
};

// The PCIe Access Control Services of a bridge: what its control register turns on.
struct AcsFacts {
  bool source_validation = false;
  bool request_redirect = false;
  bool completion_redirect = false;
  bool upstream_forwarding = false;
  bool direct_translated = false;

  bool operator==(const AcsFacts&) const = default;
};

struct NvLinkFacts {
  int index = 0;
  std::optional<bool> active;
  std::optional<int> version;
  std::optional<std::string> remote_bus_id;
  std::optional<std::string> remote_kind;  // "gpu", "switch", "cpu"
  std::optional<double> gbs;               // each way

  bool operator==(const NvLinkFacts&) const = default;
};

// A PCI device: a GPU, a NIC, or a bridge or switch above one (also one that the graph leaves out).
struct DeviceFacts {
  std::string bus_id;                    // "0000:c1:00.0"; empty where the source names the device only
  std::string node;                      // its name in the graph; empty if it is not there
  std::optional<std::string> pci_class;  // with its programming interface: "0x030200"
  std::optional<std::string> kind;       // "gpu", "nic", "bridge" (also a port of a switch), "nvswitch"
  std::optional<std::string> device;     // "10de:2330" vendor:device
  std::optional<std::string> verbs;      // its RDMA device: "mlx5_0"
  std::optional<std::string> driver;
  // What stays when a guest renumbers buses: a GPU's UUID, a NIC's node GUID, a hardware address.
  std::optional<std::string> uuid;
  std::optional<std::string> guid;
  std::optional<std::string> mac;
  std::optional<std::string> system_image_guid;  // equal on all functions of one card
  std::optional<std::string> firmware;
  std::optional<std::string> serial;
  std::optional<int> numa;                          // as told: -1 where the firmware does not say
  std::optional<std::string> power_state;           // "D0", "D3cold"; of NVIDIA GPUs "P0" to "P15"
  std::optional<std::string> physical_function;     // bus id, if this is a virtual function
  std::optional<int> virtual_functions;             // made of this one
  std::optional<AcsFacts> acs;                      // unknown without root: the register cannot be read
  std::optional<std::uint64_t> correctable_errors;  // AER totals since boot
  std::optional<std::uint64_t> nonfatal_errors;
  std::optional<std::uint64_t> fatal_errors;
  std::optional<std::string> iommu_group;
  std::optional<std::string> iommu_type;
  std::vector<PortFacts> ports;
  std::vector<NvLinkFacts> nvlinks;
  std::optional<int> index;                    // of a GPU, as its driver counts
  std::optional<int> sm;                       // NVIDIA: compute capability, 90 for 9.0; AMD: compute units
  std::optional<std::string> instruction_set;  // of AMD GPUs: "gfx942", or the number that older RCCL wrote, "910"
  std::optional<bool> link_hidden;             // the source has a place for its PCIe link, which says nothing
  std::optional<bool> gpu_direct;              // whether NICs may reach the GPU's memory, or the NIC any GPU's
  std::optional<double> clock_mhz;             // of a GPU's processors, now
  std::optional<double> max_clock_mhz;
  std::optional<std::string> fabric_state;  // of a GPU behind NVSwitches: "completed", "in progress", "not started"
  std::optional<std::uint64_t> fabric_registered_s;  // when, seconds since boot

  bool operator==(const DeviceFacts&) const = default;
};

struct HostFacts {
  std::optional<std::string> hostname;
  KernelFacts kernel;
  PlatformFacts platform;
  ContainerFacts container;
  ProcessFacts process;
  // The CPUs of each core that has several ("0,56"), by the first; none has: an empty list.
  std::optional<std::vector<std::string>> shared_cores;
  std::optional<bool> fabric_manager;                       // whether nvidia-fabricmanager runs
  std::optional<std::uint64_t> fabric_manager_start_s;      // seconds since boot
  std::optional<std::vector<std::string>> network_plugins;  // NCCL's: "libnccl-net.so"
  std::optional<bool> topology_file_present;                // where clouds put NCCL topology files
  std::optional<std::vector<Variable>> environment;  // NCCL_*, UCX_*, FI_* and the like; none of them: an empty list
  std::vector<InterfaceFacts> interfaces;            // in the order of their numbers, as the kernel lists them
  std::vector<DeviceFacts> devices;

  bool operator==(const HostFacts&) const = default;

  // The device of that name in the graph or of that bus id; null if nothing is known of it.
  const DeviceFacts* device(std::string_view node_or_bus_id) const;
  const InterfaceFacts* interface(std::string_view name) const;
  // The value of an environment variable; nothing if it is not set, or the environment is not known.
  std::optional<std::string_view> variable(std::string_view name) const;
};

}  // namespace weft::topology
