// The table of paths.
#include "topology/record/record_paths.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kLong = std::size_t{4} << 20;
constexpr std::size_t kConfig = 256;  // as far as libhwloc looks

constexpr RecordPath kPaths[] = {
    // CPUs, caches, memory
    {"sys/devices/system/cpu/online"},
    {"sys/devices/system/cpu/possible"},
    {"sys/devices/system/cpu/present"},
    {"sys/devices/system/cpu/cpu*/online"},
    {"sys/devices/system/cpu/cpu*/topology/*"},
    {"sys/devices/system/cpu/cpu*/cache/index*/id"},
    {"sys/devices/system/cpu/cpu*/cache/index*/level"},
    {"sys/devices/system/cpu/cpu*/cache/index*/type"},
    {"sys/devices/system/cpu/cpu*/cache/index*/size"},
    {"sys/devices/system/cpu/cpu*/cache/index*/shared_cpu_map"},
    {"sys/devices/system/cpu/cpu*/cache/index*/coherency_line_size"},
    {"sys/devices/system/cpu/cpu*/cache/index*/number_of_sets"},
    {"sys/devices/system/cpu/cpu*/cache/index*/physical_line_partition"},
    {"sys/devices/system/cpu/cpu*/cpufreq/cpuinfo_max_freq"},
    {"sys/devices/system/cpu/cpu*/cpufreq/base_frequency"},
    {"sys/devices/system/cpu/cpu*/cpu_capacity"},
    {"sys/devices/cpu_*/cpus"},
    {"sys/devices/system/node/online"},
    {"sys/devices/system/node/possible"},
    {"sys/devices/system/node/has_*"},
    {"sys/devices/system/node/node*/cpumap"},
    {"sys/devices/system/node/node*/cpulist"},
    {"sys/devices/system/node/node*/meminfo"},
    {"sys/devices/system/node/node*/distance"},
    {"sys/devices/system/node/node*/hugepages/*/nr_hugepages"},
    {"sys/devices/system/node/node*/access*/initiators/*"},
    {"sys/devices/system/node/node*/memory_side_cache/index*/*"},
    {"sys/kernel/mm/hugepages/*/nr_hugepages"},
    {"proc/cpuinfo", kLong},
    {"proc/meminfo"},
    {"proc/mounts", kLong},
    {"proc/self/cpuset"},
    {"proc/net/route"},
    {"proc/net/fib_trie", kLong},
    {"proc/net/if_inet6"},
    {"proc/net/ipv6_route", kLong},
    {"proc/self/cgroup"},
    {"proc/sys/kernel/hostname"},
    {"proc/sys/kernel/osrelease"},
    {"proc/sys/kernel/ostype"},
    {"proc/sys/kernel/version"},
    {"sys/fs/cgroup/cpuset.cpus.effective"},
    {"sys/fs/cgroup/cpuset.mems.effective"},
    {"sys/fs/cgroup/cgroup.controllers"},
    // the firmware's names, not its serial numbers
    {"sys/class/dmi/id/product_name"},
    {"sys/class/dmi/id/product_version"},
    {"sys/class/dmi/id/board_name"},
    {"sys/class/dmi/id/board_vendor"},
    {"sys/class/dmi/id/bios_*"},
    {"sys/class/dmi/id/chassis_type"},
    {"sys/class/dmi/id/chassis_vendor"},
    {"sys/class/dmi/id/sys_vendor"},
    // PCI
    {"sys/bus/pci/devices/*/class"},
    {"sys/bus/pci/devices/*/vendor"},
    {"sys/bus/pci/devices/*/device"},
    {"sys/bus/pci/devices/*/subsystem_vendor"},
    {"sys/bus/pci/devices/*/subsystem_device"},
    {"sys/bus/pci/devices/*/revision"},
    {"sys/bus/pci/devices/*/config", kConfig},
    {"sys/bus/pci/devices/*/local_cpus"},
    {"sys/bus/pci/devices/*/local_cpulist"},
    {"sys/bus/pci/devices/*/numa_node"},
    {"sys/bus/pci/devices/*/current_link_speed"},
    {"sys/bus/pci/devices/*/current_link_width"},
    {"sys/bus/pci/devices/*/max_link_speed"},
    {"sys/bus/pci/devices/*/max_link_width"},
    {"sys/bus/pci/slots/*/address"},
    // interfaces, RDMA devices, graphics
    {"sys/class/net/*"},
    {"sys/class/net/*/device"},
    {"sys/class/net/*/device/infiniband/*"},
    {"sys/class/net/*/address"},
    {"sys/class/net/*/dev_port"},
    {"sys/class/net/*/operstate"},
    {"sys/class/net/*/speed"},
    {"sys/class/infiniband/*"},
    {"sys/class/infiniband/*/device"},
    {"sys/class/infiniband/*/node_guid"},
    {"sys/class/infiniband/*/sys_image_guid"},
    {"sys/class/infiniband/*/ports/*/state"},
    {"sys/class/infiniband/*/ports/*/rate"},
    {"sys/class/infiniband/*/ports/*/lid"},
    {"sys/class/infiniband/*/ports/*/lid_mask_count"},
    {"sys/class/infiniband/*/ports/*/gids/0"},
    {"sys/class/drm/card*"},
    {"sys/class/drm/render*"},
    {"sys/class/drm/card*/device"},
    {"proc/driver/nvidia/gpus/*/information"},
    {"proc/driver/nvidia/gpus/*/numa_status"},
};

}  // namespace

std::span<const RecordPath> record_paths() { return kPaths; }

}  // namespace weft::topology
