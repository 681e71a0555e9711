// Facts of a host from recorded trees: kernel, platform, process, container, services. What a tree does not hold stays
// unknown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <string>

#include "tests/topology/support/recorded_tree.hpp"
#include "topology/facts/mounts.hpp"
#include "topology/facts/read_facts.hpp"

namespace weft::topology {
namespace {

using test::RecordedTree;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

class HostFactsOf : public testing::Test {
 protected:
  HostFacts facts() {
    Survey survey;
    EXPECT_TRUE(read_facts(tree_.root(), survey).ok());
    return survey.hosts.at(0);
  }
  RecordedTree tree_;
};

TEST_F(HostFactsOf, an_empty_tree_are_unknown) { EXPECT_EQ(facts(), HostFacts()); }

TEST_F(HostFactsOf, the_kernel_are_read) {
  tree_.write("/proc/sys/kernel/hostname", "node17\n");
  tree_.write("/proc/sys/kernel/osrelease", "5.15.0-91-generic\n");
  tree_.write("/proc/cmdline", "BOOT_IMAGE=/vmlinuz root=/dev/sda1 numa=off\n");
  tree_.write("/proc/sys/kernel/numa_balancing", "1\n");
  tree_.write("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  tree_.write("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "512\n");
  const HostFacts host = facts();
  EXPECT_EQ(host.hostname, "node17");
  EXPECT_EQ(host.kernel.version, "5.15.0-91-generic");
  EXPECT_THAT(host.kernel.command_line, Optional(testing::HasSubstr("numa=off")));
  EXPECT_EQ(host.kernel.numa_balancing, true);
  EXPECT_EQ(host.kernel.transparent_hugepages, "madvise");
  EXPECT_EQ(host.kernel.hugepages, 512u);
}

TEST_F(HostFactsOf, a_kernel_without_numa_tells_no_nodes) {
  tree_.write("/sys/devices/system/cpu/online", "0-1\n");
  EXPECT_EQ(facts().kernel.numa, false);
  tree_.write("/sys/devices/system/node/online", "0\n");
  EXPECT_EQ(facts().kernel.numa, true);
}

TEST_F(HostFactsOf, the_kernels_sentence_holds_its_version) {
  tree_.write("/proc/version", "Linux version 6.17.0-1014-nvidia (buildd@x) (gcc) #14 SMP\n");
  EXPECT_EQ(facts().kernel.version, "6.17.0-1014-nvidia");
}

TEST_F(HostFactsOf, governors_are_compared_over_all_cpus) {
  for (int cpu = 0; cpu < 4; ++cpu)
    tree_.write("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/scaling_governor", "performance\n");
  EXPECT_EQ(facts().kernel.governor, "performance");
  EXPECT_EQ(facts().kernel.governors_differ, false);
  tree_.write("/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "powersave\n");
  EXPECT_EQ(facts().kernel.governors_differ, true);
}

TEST_F(HostFactsOf, modules_and_peer_memory_tell_gpudirect_apart) {
  tree_.write("/sys/module/nvidia/version", "535.161.08\n");
  tree_.write("/sys/module/nvidia_peermem/refcnt", "0\n");
  tree_.write("/sys/module/snd/refcnt", "0\n");
  EXPECT_THAT(facts().kernel.modules, Optional(ElementsAre("nvidia", "nvidia_peermem")));
  EXPECT_EQ(facts().kernel.nvidia_driver, "535.161.08");
  EXPECT_EQ(facts().kernel.nvidia_open, std::nullopt);
  EXPECT_EQ(facts().kernel.peer_memory_clients, std::nullopt);
  tree_.write("/sys/kernel/mm/memory_peers/nv_mem/version", "1\n");
  EXPECT_THAT(facts().kernel.peer_memory_clients, Optional(ElementsAre("nv_mem")));
}

TEST_F(HostFactsOf, both_flavours_of_the_nvidia_driver_are_known) {
  tree_.write("/proc/driver/nvidia/version",
              "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\n"
              "GCC version:  gcc version 11.4.0 (Ubuntu 11.4.0-1ubuntu1~22.04)\n");
  EXPECT_EQ(facts().kernel.nvidia_driver, "550.54.15");
  EXPECT_EQ(facts().kernel.nvidia_open, false);
  tree_.write("/proc/driver/nvidia/version",
              "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build  (root@build)\n");
  EXPECT_EQ(facts().kernel.nvidia_driver, "570.86.15");
  EXPECT_EQ(facts().kernel.nvidia_open, true);
}

TEST_F(HostFactsOf, iommu_groups_tell_whether_addresses_are_translated) {
  tree_.write("/sys/kernel/iommu_groups/0/type", "identity\n");
  tree_.write("/sys/kernel/iommu_groups/1/type", "identity\n");
  EXPECT_EQ(facts().kernel.iommu_present, true);
  EXPECT_EQ(facts().kernel.iommu_type, "identity");
  tree_.write("/sys/kernel/iommu_groups/2/type", "DMA-FQ\n");
  EXPECT_EQ(facts().kernel.iommu_type, std::nullopt) << "groups differ";
}

TEST_F(HostFactsOf, an_iommu_without_types_is_what_the_boot_line_says) {
  tree_.write("/sys/kernel/iommu_groups/0/reserved_regions", "\n");
  EXPECT_EQ(facts().kernel.iommu_type, std::nullopt);
  tree_.write("/proc/cmdline", "intel_iommu=on iommu=pt\n");
  EXPECT_EQ(facts().kernel.iommu_type, "identity");
}

TEST_F(HostFactsOf, bare_metal_has_no_hypervisor) {
  tree_.write("/proc/cpuinfo",
              "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n"
              "model name\t: Intel(R) Xeon(R) Platinum 8480C\nflags\t\t: fpu vme sse avx512f\n");
  tree_.write("/sys/class/dmi/id/sys_vendor", "Dell Inc.\n");
  tree_.write("/sys/class/dmi/id/product_name", "PowerEdge XE9680\n");
  tree_.write("/sys/class/dmi/id/bios_version", "2.1.3\n");
  const PlatformFacts platform = facts().platform;
  EXPECT_EQ(platform.virtual_machine, false);
  EXPECT_EQ(platform.hypervisor, std::nullopt);
  EXPECT_EQ(platform.vendor, "Dell Inc.");
  EXPECT_EQ(platform.product, "PowerEdge XE9680");
  EXPECT_EQ(platform.bios, "2.1.3");
  EXPECT_EQ(platform.cpu_architecture, "x86_64");
  EXPECT_EQ(platform.cpu_vendor, "GenuineIntel");
  EXPECT_EQ(platform.cpu_family, 6);
  EXPECT_EQ(platform.cpu_model, 143);
}

TEST_F(HostFactsOf, hypervisors_are_known_by_firmware_and_clock) {
  tree_.write("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor sse\n");
  EXPECT_EQ(facts().platform.virtual_machine, true);
  EXPECT_EQ(facts().platform.hypervisor, std::nullopt);
  tree_.write("/sys/devices/system/clocksource/clocksource0/available_clocksource", "kvm-clock tsc acpi_pm\n");
  EXPECT_EQ(facts().platform.hypervisor, "kvm");
  tree_.write("/sys/class/dmi/id/sys_vendor", "Microsoft Corporation\n");
  tree_.write("/sys/class/dmi/id/product_name", "Virtual Machine\n");
  EXPECT_EQ(facts().platform.hypervisor, "hyper-v");
  tree_.write("/sys/hypervisor/type", "xen\n");
  EXPECT_EQ(facts().platform.hypervisor, "xen");
}

TEST_F(HostFactsOf, a_cloud_instance_without_processor_flags_is_known_by_its_product) {
  tree_.write("/proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n");
  tree_.write("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
  tree_.write("/sys/class/dmi/id/product_name", "c7g.metal\n");
  EXPECT_EQ(facts().platform.virtual_machine, std::nullopt);
  EXPECT_EQ(facts().platform.cpu_architecture, "arm64");
  tree_.write("/sys/class/dmi/id/product_name", "c7g.16xlarge\n");
  EXPECT_EQ(facts().platform.virtual_machine, true);
  EXPECT_EQ(facts().platform.hypervisor, "kvm");
}

TEST_F(HostFactsOf, the_process_come_from_its_own_files) {
  tree_.write("/proc/self/limits",
              "Limit                     Soft Limit           Hard Limit           Units     \n"
              "Max open files            1024                 524288               files     \n"
              "Max locked memory         8388608              unlimited            bytes     \n");
  tree_.write("/proc/self/status",
              "Name:\ttopo-probe\nCapEff:\t00000000a80425fb\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n"
              "Mems_allowed:\t00000001\nMems_allowed_list:\t0\n");
  tree_.write("/proc/self/numa_maps",
              "55d0 default file=/usr/bin/x mapped=9 N0=9 kernelpagesize_kB=4\n"
              "7f00 default anon=30 dirty=30 N0=20 N1=10 kernelpagesize_kB=4\n"
              "7f10 default anon=1 dirty=1 N1=1 kernelpagesize_kB=2048\n"
              "7f20 default\n");
  const ProcessFacts process = facts().process;
  EXPECT_EQ(process.memlock_bytes, 8388608u);
  EXPECT_EQ(process.open_files, 1024u);
  EXPECT_EQ(process.may_lock_all, false);
  EXPECT_EQ(process.allowed_cpus, "0-7");
  EXPECT_EQ(process.allowed_memories, "0");
  EXPECT_THAT(process.resident, ElementsAre(ResidentPages{0, 20}, ResidentPages{1, 522}));
}

TEST_F(HostFactsOf, limits_without_bound_and_capabilities_are_told) {
  tree_.write("/proc/self/limits", "Max locked memory         unlimited            unlimited            bytes     \n");
  tree_.write("/proc/self/status", "CapEff:\t000001ffffffffff\n");
  EXPECT_EQ(facts().process.memlock_bytes, kUnlimited);
  EXPECT_EQ(facts().process.may_lock_all, true);
}

TEST_F(HostFactsOf, only_variables_of_collectives_are_kept) {
  using namespace std::string_literals;
  tree_.write("/proc/self/environ",
              "PATH=/bin\0AWS_SECRET_ACCESS_KEY=x\0NCCL_IB_GID_INDEX=3\0UCX_TLS=rc\0NCCL_DEBUG=\0broken\0"s);
  const HostFacts host = facts();
  EXPECT_THAT(host.environment, Optional(ElementsAre(Variable{"NCCL_DEBUG", ""}, Variable{"NCCL_IB_GID_INDEX", "3"},
                                                     Variable{"UCX_TLS", "rc"})));
  EXPECT_EQ(host.variable("NCCL_IB_GID_INDEX"), "3");
  tree_.write("/proc/self/environ", "HOME=/root");
  EXPECT_THAT(facts().environment, Optional(IsEmpty()));
}

// ---- containers

TEST_F(HostFactsOf, a_pod_has_the_cpus_and_memory_of_its_cgroup) {
  tree_.write("/proc/self/cgroup", "0::/\n");
  tree_.write("/proc/self/mountinfo",
              "1 0 0:1 / / rw - overlay overlay rw\n"
              "30 1 0:26 /kubepods/pod1 /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n"
              "31 1 0:30 / /dev/shm rw,nosuid shared:9 - tmpfs shm rw,size=65536k\n");
  tree_.write("/sys/fs/cgroup/cpuset.cpus.effective", "0-7\n");
  tree_.write("/sys/fs/cgroup/cpuset.mems.effective", "0\n");
  tree_.write("/sys/fs/cgroup/memory.max", "1073741824\n");
  using namespace std::string_literals;
  tree_.write("/proc/self/environ", "KUBERNETES_SERVICE_HOST=10.0.0.1\0"s);
  tree_.write("/dev/infiniband/uverbs0", "");
  const ContainerFacts container = facts().container;
  EXPECT_EQ(container.kind, "kubernetes");
  EXPECT_EQ(container.cgroup_cpus, "0-7");
  EXPECT_EQ(container.cgroup_memories, "0");
  EXPECT_EQ(container.memory_limit_bytes, 1073741824u);
  EXPECT_EQ(container.shm_bytes, 64u << 20);
  EXPECT_THAT(container.infiniband_devices, Optional(ElementsAre("uverbs0")));
}

TEST_F(HostFactsOf, limits_of_cgroups_above_count_too) {
  tree_.write("/proc/self/cgroup", "0::/slurm/job_7/step_0\n");
  tree_.write("/proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  tree_.write("/sys/fs/cgroup/slurm/job_7/step_0/memory.max", "max\n");
  tree_.write("/sys/fs/cgroup/slurm/job_7/memory.max", "4096\n");
  tree_.write("/sys/fs/cgroup/slurm/job_7/cpuset.cpus.effective", "4-5\n");
  tree_.write("/sys/fs/cgroup/cpuset.cpus.effective", "0-63\n");
  EXPECT_EQ(facts().container.kind, "slurm");
  EXPECT_EQ(facts().container.memory_limit_bytes, 4096u);
  EXPECT_EQ(facts().container.cgroup_cpus, "4-5");
}

TEST_F(HostFactsOf, the_module_that_lets_efa_reach_gpu_memory_is_seen) {
  tree_.write("/sys/module/efa_nv_peermem/refcnt", "0\n");
  EXPECT_THAT(facts().kernel.modules, Optional(ElementsAre("efa_nv_peermem")));
}

TEST_F(HostFactsOf, a_cgroup_without_a_slash_is_none) {
  tree_.write("/proc/self/cgroup", "0::foo\n");
  tree_.write("/proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  tree_.write("/sys/fs/cgroup/cpuset.cpus.effective", "0-63\n");
  EXPECT_EQ(facts().container.cgroup_cpus, std::nullopt);
}

TEST_F(HostFactsOf, a_mounted_cgroup_is_no_part_of_one_whose_name_begins_like_it) {
  tree_.write("/proc/self/cgroup", "0::/a/c1x\n");
  tree_.write("/proc/self/mountinfo", "30 1 0:26 /a/c1 /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  tree_.write("/sys/fs/cgroup/cpuset.cpus.effective", "0-3\n");
  tree_.write("/sys/fs/cgroup/a/c1x/cpuset.cpus.effective", "4-5\n");
  EXPECT_EQ(facts().container.cgroup_cpus, "4-5");
}

TEST_F(HostFactsOf, the_older_cgroups_have_a_folder_for_each_controller) {
  tree_.write("/proc/self/cgroup", "7:memory:/docker/ab\n3:cpuset:/docker/ab\n0::/\n");
  tree_.write("/proc/self/mountinfo",
              "40 1 0:34 /docker/ab /sys/fs/cgroup/cpuset ro - cgroup cgroup rw,cpuset\n"
              "41 1 0:35 / /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
              "42 1 0:36 / /sys/fs/cgroup/unified ro - cgroup2 cgroup rw\n");
  tree_.write("/sys/fs/cgroup/cpuset/cpuset.effective_cpus", "2,3\n");
  tree_.write("/sys/fs/cgroup/cpuset/cpuset.effective_mems", "1\n");
  tree_.write("/sys/fs/cgroup/memory/docker/ab/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(facts().container.kind, "docker");
  EXPECT_EQ(facts().container.cgroup_cpus, "2,3");
  EXPECT_EQ(facts().container.cgroup_memories, "1");
  EXPECT_EQ(facts().container.memory_limit_bytes, kUnlimited);
}

TEST_F(HostFactsOf, shared_memory_without_a_size_is_half_of_the_memory) {
  tree_.write("/proc/self/mountinfo", "31 1 0:30 / /dev/shm rw,nosuid - tmpfs tmpfs rw\n");
  EXPECT_EQ(facts().container.shm_bytes, std::nullopt);
  tree_.write("/proc/meminfo", "MemTotal:       1000 kB\n");
  EXPECT_EQ(facts().container.shm_bytes, 512'000u);
  tree_.write("/proc/self/mountinfo", "31 1 0:30 / /dev/shm rw - tmpfs tmpfs rw,size=10%\n");
  EXPECT_EQ(facts().container.shm_bytes, 102'400u);
  tree_.write("/proc/self/mountinfo", "31 1 0:30 / /dev rw - tmpfs tmpfs rw,size=64k\n");
  EXPECT_EQ(facts().container.shm_bytes, std::nullopt) << "/dev/shm is no mount of its own";
}

TEST_F(HostFactsOf, files_of_containers_are_signs) {
  tree_.write("/.dockerenv", "");
  EXPECT_EQ(facts().container.kind, "docker");
  tree_.write("/run/.containerenv", "");
  EXPECT_EQ(facts().container.kind, "podman");
}

TEST_F(HostFactsOf, a_dev_without_infiniband_has_none_of_its_devices) {
  EXPECT_EQ(facts().container.infiniband_devices, std::nullopt);
  tree_.write("/dev/null", "");
  EXPECT_THAT(facts().container.infiniband_devices, Optional(IsEmpty()));
}

TEST(Mounts, lines_that_make_no_sense_are_left_out) {
  const std::vector<Mount> mounts = parse_mounts("x\n1 2 3 4\n- - - - - - - - - - - -\n1 0 0:1 / /a rw - t s o,p\n");
  ASSERT_EQ(mounts.size(), 1u);
  EXPECT_EQ(mounts[0].point, "/a");
  EXPECT_THAT(mounts[0].options, ElementsAre("o", "p"));
}

// ---- services

class WithNvidia : public HostFactsOf {
 protected:
  void SetUp() override { tree_.add_pci({"0000:01:00.0", {}, "0x030200", "0x10de", "0x2330", "0-1", -1, -1, {}}); }
};

TEST_F(WithNvidia, the_fabric_manager_is_found_with_its_start) {
  EXPECT_EQ(facts().fabric_manager, std::nullopt) << "no processes are recorded";
  tree_.write("/proc/1/comm", "systemd\n");
  EXPECT_EQ(facts().fabric_manager, false);
  tree_.write("/proc/1234/comm", "nv-fabricmanage\n");
  tree_.write("/proc/1234/stat", "1234 (nv-fabric ) man) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4200 0\n");
  EXPECT_EQ(facts().fabric_manager, true);
  EXPECT_EQ(facts().fabric_manager_start_s, 42u);
}

TEST_F(WithNvidia, a_container_does_not_see_the_hosts_fabric_manager) {
  tree_.write("/proc/1/comm", "python3\n");
  EXPECT_EQ(facts().fabric_manager, std::nullopt);
}

TEST_F(HostFactsOf, plugins_are_found_where_the_loader_looks) {
  EXPECT_EQ(facts().network_plugins, std::nullopt);
  tree_.write("/usr/lib/libc.so.6", "");
  EXPECT_THAT(facts().network_plugins, Optional(IsEmpty()));
  tree_.write("/etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n");
  tree_.write("/etc/ld.so.conf.d/efa.conf", "/opt/elsewhere/lib\n");
  tree_.write("/opt/elsewhere/lib/libnccl-net.so", "");
  EXPECT_THAT(facts().network_plugins, Optional(ElementsAre("libnccl-net.so")));
}

TEST_F(HostFactsOf, topology_files_of_clouds_are_found) {
  EXPECT_EQ(facts().topology_file_present, std::nullopt);
  tree_.write("/opt/x", "");
  EXPECT_EQ(facts().topology_file_present, false);
  tree_.write("/opt/microsoft/ndv5-topo.xml", "<system/>");
  EXPECT_EQ(facts().topology_file_present, true);
}

}  // namespace
}  // namespace weft::topology
