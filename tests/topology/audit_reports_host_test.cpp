// Public reports of a host's settings: shared and locked memory, CPUs that a launcher left, NUMA modes; see told_of().
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/topology/support/audit_cases.hpp"
#include "topology/audit/audit.hpp"

namespace weft::topology::audit {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Report13, dockers_shared_memory) {
  Machine machine("packages:2 gpu:8 nvswitch:300");
  machine.host().container.shm_bytes = std::uint64_t{64} << 20;
  EXPECT_THAT(told_of(machine, "limits.shm_small"),
              AllOf(HasSubstr("error limits.shm_small /dev/shm: holds 64 MiB; NCCL needs about 152 MiB for 8 GPUs"),
                    HasSubstr("--shm-size")));
}

TEST(Report14, locked_memory_of_the_launchers_daemon) {
  Machine machine("packages:2 gpu:8 nic:8 hdr");
  machine.host().process.memlock_bytes = 8192 * 1024;
  EXPECT_THAT(told_of(machine, "limits.memlock"),
              AllOf(HasSubstr("error"), HasSubstr("8192 KiB"), HasSubstr("not in a login shell")));
}

TEST(Report16, pod_without_ipc_lock) {
  Machine machine("packages:2 gpu:8 nic:8 hdr");
  machine.host().process.memlock_bytes = 64 * 1024;
  machine.host().process.may_lock_all = false;
  machine.host().container.kind = "kubernetes";
  EXPECT_THAT(told_of(machine, "container.cap_ipc_lock"), AllOf(HasSubstr("error"), HasSubstr("--cap-add=IPC_LOCK")));
  EXPECT_EQ(told_of(machine, "limits.memlock"), "");
}

// CPUs 0-23 near GPU 0 and 1, 24-47 near the others.
Machine slurm(std::string_view gpus, std::string_view cpus) {
  Machine machine("packages:2 cores:24 gpu:4 gpus_per_switch:2");
  machine.set("CUDA_VISIBLE_DEVICES", gpus);
  machine.host().process.allowed_cpus = std::string(cpus);
  machine.host().container.cgroup_cpus = std::string(cpus);
  return machine;
}

TEST(Report41, mask_of_slurm_is_narrow) {
  EXPECT_THAT(told_of(slurm("0", "0-7"), "affinity.cpuset_narrow"),
              AllOf(HasSubstr("warning"), HasSubstr("8 of the 24 near gpu0"), HasSubstr("--cpu-bind=map_ldom")));
}

TEST(Report42, cgroup_without_a_near_cpu) {
  EXPECT_THAT(told_of(slurm("2", "0-7"), "affinity.empty_intersection"),
              AllOf(HasSubstr("error affinity.empty_intersection gpu2"), HasSubstr("do not bind where")));
}

TEST(Report45, torchrun_does_not_bind) {
  Machine machine = slurm("0,1,2,3", "0-47");
  machine.set("LOCAL_RANK", "0");
  EXPECT_THAT(told_of(machine, "affinity.unbound"), AllOf(HasSubstr("info"), HasSubstr("topo-probe --bindings")));
}

TEST(Report46, memory_was_touched_before_the_binding) {
  Machine machine = slurm("0", "0-23");
  machine.host().process.resident = {{0, 780'000}, {1, 220'000}};
  EXPECT_THAT(told_of(machine, "affinity.remote_pages"),
              AllOf(HasSubstr("warning"), HasSubstr("22% of"), HasSubstr("(node 1), its CPUs on node 0")));
}

TEST(Report48, numa_is_off_on_one_node_of_two) {
  Machine machine("hosts:2 packages:2 gpu:8 nic:8 ndr", 2);
  for (Node& node : machine.survey().graph.nodes)
    if (node.kind == NodeKind::Numa && node.host == 1 && node.name != "numa0") node.cpus.clear();
  machine.host(1).kernel.command_line = "ro numa=off";
  EXPECT_THAT(told_of(machine, "kernel.numa_off"),
              AllOf(HasSubstr("error kernel.numa_off host1: NUMA: 2 packages but 1 NUMA node"),
                    HasSubstr("1 of 2 hosts has several"), HasSubstr("remove numa=off")));
}

TEST(Report49, epyc_with_one_node_per_socket) {
  Machine machine("packages:2 cores:32 gpu:8 gpus_per_switch:1");
  for (const char* package : {"package0", "package1"}) machine.node(package).model = "AMD EPYC 7543 32-Core Processor";
  machine.name_all("gpu", 8, "10de:20b5");
  machine.virtual_machine(false);
  machine.host().kernel.iommu_type = "DMA";
  EXPECT_THAT(told_of(machine, "bios.nps"), AllOf(HasSubstr("info"), HasSubstr("NPS1"), HasSubstr("try NPS4")));
  EXPECT_THAT(told_of(machine, "kernel.iommu_translating"), HasSubstr("error"));
}

TEST(Report50, numa_balancing_stalls) {
  Machine machine("packages:2 gpu:8 nic:8 ndr");
  machine.host().kernel.numa_balancing = true;
  EXPECT_THAT(told_of(machine, "kernel.numa_balancing"),
              AllOf(HasSubstr("warning"), HasSubstr("sysctl -w kernel.numa_balancing=0")));
}

}  // namespace
}  // namespace weft::topology::audit
