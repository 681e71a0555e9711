// Bindings: what ranks of known machines are told, and what is not said without evidence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/topology/support/machine_survey.hpp"
#include "topology/advice/bindings.hpp"
#include "topology/import/import.hpp"

namespace weft::topology::advice {
namespace {

using test::machine_of;
using test::node_of;
using testing::ElementsAre;
using testing::HasSubstr;

HostBindings bindings_of(const Survey& survey) {
  Locality locality(survey.graph);
  return bind_host(survey, locality, 0);
}

std::vector<std::string> nics_of(const Survey& survey, const Binding& rank) {
  std::vector<std::string> names;
  for (int nic : rank.nics) names.push_back(survey.graph.nodes[static_cast<std::size_t>(nic)].name);
  return names;
}

TEST(Bindings, each_gpu_of_a_dgx_h100_has_14_cores_its_socket_and_its_nic) {
  const Survey survey = machine_of("dgx-h100");
  const HostBindings host = bindings_of(survey);
  ASSERT_EQ(host.ranks.size(), 8u);
  EXPECT_EQ(host.ranks[0].cpus, "0-13");
  EXPECT_EQ(host.ranks[0].memory_node, 0);
  EXPECT_EQ(host.ranks[7].cpus, "98-111");
  EXPECT_EQ(host.ranks[7].memory_node, 1);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_THAT(nics_of(survey, host.ranks[i]), ElementsAre("nic" + std::to_string(i)));
    EXPECT_EQ(host.ranks[i].nic_class, PathClass::Pix);
  }
  EXPECT_TRUE(host.notes.empty());
}

TEST(Bindings, thirty_two_nics_are_four_for_each_of_eight_gpus) {
  const Survey survey = machine_of("p5.48xlarge");
  const HostBindings host = bindings_of(survey);
  EXPECT_THAT(nics_of(survey, host.ranks[1]), ElementsAre("nic4", "nic5", "nic6", "nic7"));
}

TEST(Bindings, two_nics_serve_four_gpus_each) {
  const Survey survey = machine_of("pcie-8gpu");
  const HostBindings host = bindings_of(survey);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_THAT(nics_of(survey, host.ranks[i]), ElementsAre(i < 4 ? "nic0" : "nic1"));
}

TEST(Bindings, nics_on_one_socket_are_still_shared_evenly) {
  Survey survey = machine_of("packages:2 cores:4 gpu:4 gpus_per_switch:1 nic:4 hdr");
  node_of(survey, "nic2").active = false;
  node_of(survey, "nic3").active = false;
  const HostBindings host = bindings_of(survey);
  std::map<std::string, int> load;
  for (const Binding& rank : host.ranks)
    for (const std::string& nic : nics_of(survey, rank)) ++load[nic];
  EXPECT_EQ(load, (std::map<std::string, int>{{"nic0", 2}, {"nic1", 2}}));
  EXPECT_THAT(nics_of(survey, host.ranks[0]), ElementsAre("nic0"));
  EXPECT_THAT(host.notes, ElementsAre(HasSubstr("nic2 is not used: its port is down"), HasSubstr("nic3")));
}

TEST(Bindings, virtual_functions_and_slow_nics_are_left_out) {
  Survey survey = machine_of("cores:4 gpu:2 gpus_per_switch:1 nic:4 hdr");
  DeviceFacts& function = survey.hosts[0].devices.emplace_back();
  function.node = "nic1";
  function.physical_function = "0000:01:00.0";
  node_of(survey, "nic3").network_gbs = 5;
  const HostBindings host = bindings_of(survey);
  EXPECT_THAT(nics_of(survey, host.ranks[0]), ElementsAre("nic0"));
  EXPECT_THAT(nics_of(survey, host.ranks[1]), ElementsAre("nic2"));
  EXPECT_THAT(host.notes, ElementsAre(HasSubstr("virtual function"), HasSubstr("40 Gbit/s is much less than the 200")));
}

TEST(Bindings, only_allowed_cpus_are_given_and_far_ones_are_told) {
  Survey survey = machine_of("packages:2 cores:4 gpu:2 gpus_per_switch:1");
  survey.hosts[0].process.allowed_cpus = "0-1";
  const HostBindings host = bindings_of(survey);
  EXPECT_EQ(host.ranks[0].cpus, "0");
  EXPECT_EQ(host.ranks[0].memory_node, 0);
  EXPECT_EQ(host.ranks[1].cpus, "1");
  EXPECT_EQ(host.ranks[1].memory_node, std::nullopt);
  EXPECT_THAT(host.notes, ElementsAre(HasSubstr("none of the CPUs near gpu1 (4-7)")));
}

TEST(Bindings, far_ranks_get_an_even_part_of_what_is_allowed) {
  Survey survey = machine_of("packages:3 cores:6 gpu:3 gpus_per_switch:1");
  survey.hosts[0].process.allowed_cpus = "0-5";
  HostBindings host = bindings_of(survey);
  EXPECT_EQ(host.ranks[0].cpus, "0-1");
  EXPECT_EQ(host.ranks[1].cpus, "2-3");
  EXPECT_EQ(host.ranks[2].cpus, "4-5");
  survey.hosts[0].process.allowed_cpus = "0";
  EXPECT_THAT(bindings_of(survey).notes, testing::Contains(HasSubstr("gpu0, gpu1, gpu2 share 1 core")));
}

// CPUs near nobody come first, where there are most for each rank.
TEST(Bindings, far_ranks_get_cpus_that_are_near_nobody) {
  Survey survey = machine_of("packages:3 cores:4 gpu:3 gpus_per_switch:1");
  survey.hosts[0].process.allowed_cpus = "4-11";
  survey.hosts[0].environment = std::vector<Variable>{{"CUDA_VISIBLE_DEVICES", "0,1"}};
  const HostBindings host = bindings_of(survey);
  ASSERT_EQ(host.ranks.size(), 2u);
  EXPECT_EQ(host.ranks[0].cpus, "8-11");
  EXPECT_EQ(host.ranks[1].cpus, "4-7");
}

TEST(Bindings, memory_is_taken_from_the_nearest_node_that_may_be_used) {
  Survey survey = machine_of("packages:2 cores:4 gpu:2 gpus_per_switch:1");
  survey.hosts[0].process.allowed_memories = "0";
  const HostBindings host = bindings_of(survey);
  EXPECT_EQ(host.ranks[0].memory_node, 0);
  EXPECT_EQ(host.ranks[1].cpus, "4-7");
  EXPECT_EQ(host.ranks[1].memory_node, 0);
  EXPECT_THAT(host.notes, ElementsAre("memory node 1 may not be used here: 0 is the nearest that can be used"));
  survey.hosts[0].process.allowed_memories.reset();
  survey.hosts[0].container.cgroup_memories = "7";
  EXPECT_EQ(bindings_of(survey).ranks[1].memory_node, std::nullopt);
  EXPECT_THAT(bindings_of(survey).notes.back(), HasSubstr("no other is known"));
}

TEST(Bindings, a_node_without_memory_is_passed_over_for_one_of_its_package) {
  Survey survey = machine_of("packages:2 numa:4 cores:8 gpu:4 gpus_per_switch:1");
  ASSERT_EQ(survey.graph.ids(NodeKind::Numa).size(), 4u);
  node_of(survey, "numa2").memory_bytes = 0;
  const HostBindings host = bindings_of(survey);
  EXPECT_EQ(host.ranks[2].memory_node, 3);
  EXPECT_EQ(host.ranks[1].memory_node, 1);
  EXPECT_THAT(host.notes, ElementsAre("memory node 2 has no memory: 3 is the nearest that can be used"));
}

TEST(Bindings, ranks_are_in_the_order_in_which_the_driver_counts) {
  Survey survey = machine_of("packages:2 cores:4 gpu:2 gpus_per_switch:1");
  node_of(survey, "gpu0").names = {"rsmi1"};
  node_of(survey, "gpu1").names = {"rsmi0"};
  const HostBindings host = bindings_of(survey);
  EXPECT_EQ(node_of(survey, "gpu1").id, host.ranks[0].device);
  EXPECT_EQ(host.ranks[0].index, 0);
  EXPECT_EQ(host.ranks[0].cpus, "4-7");
  EXPECT_EQ(host.ranks[0].memory_node, 1);
  EXPECT_TRUE(host.notes.empty());
}

TEST(Bindings, ranks_are_in_the_order_of_bus_ids_where_the_driver_does_not_tell) {
  Survey survey = machine_of("packages:2 cores:4 gpu:2 gpus_per_switch:1");
  node_of(survey, "gpu0").bus_id = "0000:81:00.0";
  node_of(survey, "gpu1").bus_id = "0000:07:00.0";
  const HostBindings host = bindings_of(survey);
  EXPECT_EQ(host.ranks[0].cpus, "4-7");
  EXPECT_EQ(host.ranks[0].index, std::nullopt);
  EXPECT_THAT(host.notes, ElementsAre(HasSubstr("counted by PCI bus id")));
}

TEST(Bindings, a_list_of_visible_gpus_is_the_order_of_ranks) {
  Survey survey = machine_of("dgx-h100");
  survey.hosts[0].environment = std::vector<Variable>{{"CUDA_VISIBLE_DEVICES", "6,4"}};
  HostBindings host = bindings_of(survey);
  ASSERT_EQ(host.ranks.size(), 2u);
  EXPECT_EQ(host.ranks[0].device, node_of(survey, "gpu6").id);
  EXPECT_EQ(host.ranks[1].device, node_of(survey, "gpu4").id);
  EXPECT_THAT(host.notes, ElementsAre("CUDA_VISIBLE_DEVICES=6,4: 2 of 8 GPUs, counted in its order"));
  survey.hosts[0].environment = std::vector<Variable>{{"CUDA_VISIBLE_DEVICES", "NoDevFiles"}};
  host = bindings_of(survey);
  EXPECT_EQ(host.ranks.size(), 8u);
  EXPECT_THAT(host.notes, ElementsAre(HasSubstr("CUDA_VISIBLE_DEVICES=NoDevFiles names none of these GPUs")));
}

// As the audit counts.
TEST(Bindings, graphics_inside_a_processor_are_no_rank) {
  Survey survey = machine_of("packages:2 cores:4 gpu:3 gpus_per_switch:1");
  node_of(survey, "gpu1").device = "1002:164e";
  survey.hosts[0].environment = std::vector<Variable>{{"CUDA_VISIBLE_DEVICES", "1"}};
  const HostBindings host = bindings_of(survey);
  ASSERT_EQ(host.ranks.size(), 1u);
  EXPECT_EQ(host.ranks[0].device, node_of(survey, "gpu2").id);
  EXPECT_THAT(host.notes, ElementsAre("CUDA_VISIBLE_DEVICES=1: 1 of 2 GPUs, counted in its order"));
}

// What a source tells of its CPUs.
TEST(Bindings, common_cpus_are_told) {
  Survey survey = machine_of("packages:2 cores:4 gpu:2 gpus_per_switch:1");
  node_of(survey, "numa1").cpus = "3-6";
  EXPECT_THAT(bindings_of(survey).notes, ElementsAre("gpu0, gpu1 have CPUs in common (3)"));
}

TEST(Bindings, memory_without_cpus_is_no_memory_node) {
  Survey survey = machine_of("cores:8 gpu:1");
  Node memory;
  memory.kind = NodeKind::Numa;
  memory.name = "numa8";
  memory.os_index = 8;
  memory.parent = *survey.graph.find("package0");
  const int id = survey.graph.add(memory);
  survey.graph.connect(memory.parent, id, LinkKind::Internal, 100, 1, "spec");
  const HostBindings host = bindings_of(survey);
  EXPECT_EQ(host.ranks[0].cpus, "0-7");
  EXPECT_EQ(host.ranks[0].memory_node, 0);
}

TEST(Bindings, without_gpus_each_core_group_is_a_rank) {
  const Survey survey = machine_of("cpu-2socket nic:2 hdr");
  const HostBindings host = bindings_of(survey);
  ASSERT_EQ(host.ranks.size(), 2u);
  EXPECT_EQ(host.ranks[1].cpus, "32-63");
  EXPECT_EQ(host.ranks[1].memory_node, 1);
  EXPECT_THAT(nics_of(survey, host.ranks[1]), ElementsAre("nic1"));
}

// High-bandwidth memory near both sockets.
TEST(Bindings, memory_near_several_core_groups_is_no_rank) {
  Survey survey = machine_of("cpu-2socket");
  Node group;
  group.kind = NodeKind::CoreGroup;
  group.name = "cores2";
  group.cpus = "0-63";
  group.parent = *survey.graph.find("machine");
  const int id = survey.graph.add(group);
  survey.graph.connect(group.parent, id, LinkKind::Internal, 100, 1, "spec");
  const HostBindings host = bindings_of(survey);
  ASSERT_EQ(host.ranks.size(), 2u);
  EXPECT_EQ(host.ranks[1].cpus, "32-63");
  EXPECT_THAT(host.notes, ElementsAre("cores2 is no rank of its own: others have its CPUs (0-63)"));
}

TEST(Bindings, smaller_core_groups_have_common_cpus_first) {
  Survey survey = machine_of("cpu-2socket");
  node_of(survey, "cores0").cpus = "0-39";
  const HostBindings host = bindings_of(survey);
  ASSERT_EQ(host.ranks.size(), 2u);
  EXPECT_EQ(host.ranks[0].cpus, "0-31");
  EXPECT_EQ(host.ranks[0].memory_node, 0);
  EXPECT_EQ(host.ranks[1].cpus, "32-63");
  EXPECT_THAT(host.notes, ElementsAre("cores0 has of its CPUs (0-39) those that are in no other (0-31)"));
}

// Files of NCCL tell NUMA nodes and nothing smaller.
TEST(Bindings, without_gpus_and_core_groups_each_numa_node_with_cpus_is_a_rank) {
  const Result<Survey> survey =
      read_nccl_xml("topo.xml",
                    "<system version='1'><cpu numaid='0' affinity='ff'><pci busid='0000:01:00.0' class='0x020700'><nic>"
                    "<net name='mlx5_0' speed='100000'/></nic></pci></cpu><cpu numaid='1' affinity='ff00'/><cpu "
                    "numaid='2'/></system>");
  ASSERT_TRUE(survey) << survey.status().to_string();
  const HostBindings host = bindings_of(*survey);
  ASSERT_EQ(host.ranks.size(), 2u);
  EXPECT_EQ(host.ranks[0].cpus, "0-7");
  EXPECT_EQ(host.ranks[0].memory_node, 0);
  EXPECT_EQ(host.ranks[1].cpus, "8-15");
  EXPECT_EQ(host.ranks[1].memory_node, 1);
  EXPECT_THAT(nics_of(*survey, host.ranks[0]), ElementsAre("mlx5_0"));
}

// As NCCL writes cards whose ports are devices of their own: who uses one of them has half of the card.
TEST(Bindings, both_devices_of_a_card_are_named) {
  const Result<Survey> survey = read_nccl_xml(
      "topo.xml",
      "<system version='1'><cpu numaid='0' affinity='ff'><pci busid='0000:02:00.0' class='0x030200'><gpu "
      "dev='0'/></pci>"
      "<pci busid='0000:01:00.0' class='0x020700' vendor='0x15b3' device='0x1021'><nic>"
      "<net name='mlx5_0' speed='200000' port='1' guid='0xa000000000000001'/>"
      "<net name='mlx5_1' speed='200000' port='2' guid='0xa000000000000001'/></nic></pci></cpu></system>");
  ASSERT_TRUE(survey) << survey.status().to_string();
  const HostBindings host = bindings_of(*survey);
  ASSERT_EQ(host.ranks.size(), 1u);
  EXPECT_THAT(host.ranks[0].nic_names, ElementsAre("mlx5_0", "mlx5_1"));
}

// The text shows NUMA nodes that GPUs are on, not those of the host.
TEST(Bindings, a_gpu_without_a_numa_node_does_not_get_that_of_another) {
  const Result<Survey> survey = read_nvidia_smi("topo.txt",
                                                "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n"
                                                "GPU0\t X \tSYS\t0-7\t0\nGPU1\tSYS\t X \tN/A\tN/A\n");
  ASSERT_TRUE(survey) << survey.status().to_string();
  const HostBindings host = bindings_of(*survey);
  ASSERT_EQ(host.ranks.size(), 2u);
  EXPECT_EQ(host.ranks[0].memory_node, 0);
  EXPECT_EQ(host.ranks[1].memory_node, std::nullopt);
}

TEST(Bindings, where_only_the_allowed_cpus_are_known_these_are_shared_out) {
  Survey survey = machine_of("cpu-2socket");
  for (Node& node : survey.graph.nodes) node.cpus.clear();
  EXPECT_EQ(bindings_of(survey).ranks.front().cpus, "");
  survey.hosts[0].process.allowed_cpus = "2-5";
  const HostBindings host = bindings_of(survey);
  ASSERT_EQ(host.ranks.size(), 1u);
  EXPECT_EQ(host.ranks[0].cpus, "2-5");
}

}  // namespace
}  // namespace weft::topology::advice
