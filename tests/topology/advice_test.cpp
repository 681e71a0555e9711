// Bindings and environments: what ranks of known machines are told, and what is not said without evidence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "topology/advice/binding_text.hpp"
#include "topology/advice/environment.hpp"
#include "topology/interfaces.hpp"

namespace weft::topology::advice {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Survey machine_of(std::string_view line) {
  Survey survey;
  Result<Graph> graph = model(line);
  EXPECT_TRUE(graph) << graph.status().to_string();
  if (graph) survey.graph = std::move(graph).value();
  survey.hosts.resize(static_cast<std::size_t>(survey.graph.hosts()));
  return survey;
}

HostBindings bindings_of(const Survey& survey) {
  Locality locality(survey.graph);
  return bind_host(survey, locality, 0);
}

std::string text_of(BindingForm form, const Survey& survey) {
  Locality locality(survey.graph);
  return *binding_text(form, survey, locality);
}

std::vector<std::string> nics_of(const Survey& survey, const Binding& rank) {
  std::vector<std::string> names;
  for (int nic : rank.nics) names.push_back(survey.graph.nodes[static_cast<std::size_t>(nic)].name);
  return names;
}

std::vector<Setting> settings_of(const Survey& survey) {
  Locality locality(survey.graph);
  return environment_of(survey, locality, 0);
}

// Its value, or "unset".
std::string value_in(const std::vector<Setting>& settings, std::string_view name) {
  for (const Setting& setting : settings)
    if (setting.name == name) return setting.value;
  return "unset";
}

Node& node_of(Survey& survey, std::string_view name) {
  return survey.graph.nodes[static_cast<std::size_t>(*survey.graph.find(name))];
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

TEST(BindingText, has_a_line_for_each_launcher) {
  Survey survey = machine_of("dgx-h100");
  survey.hosts[0].hostname = "node7";
  EXPECT_THAT(text_of(BindingForm::Text, survey),
              HasSubstr("rank 3   gpu3     cpus 42-55  memory node 0  NIC nic3 (PIX)"));
  EXPECT_THAT(text_of(BindingForm::Numactl, survey), HasSubstr("\nnumactl --physcpubind=42-55 --membind=0 PROGRAM\n"));
  EXPECT_THAT(text_of(BindingForm::Mpirun, survey), HasSubstr("\nrank 3=node7 slot=42-55\n"));
  EXPECT_THAT(text_of(BindingForm::Torchrun, survey),
              HasSubstr("\n  3) exec numactl --physcpubind=42-55 --membind=0 \"$@\" ;;"));
  EXPECT_THAT(
      text_of(BindingForm::Json, survey),
      HasSubstr(R"({"rank": 3, "device": "gpu3", "bus_id": null, "index": null, "cpus": "42-55", "memory_node": 0)"));
  for (BindingForm form : {BindingForm::Text, BindingForm::Numactl, BindingForm::Mpirun, BindingForm::Torchrun})
    EXPECT_THAT(text_of(form, survey), Not(HasSubstr("CUDA_DEVICE_ORDER")));
}

TEST(BindingText, says_how_gpus_are_counted) {
  Survey survey = machine_of("packages:2 cores:4 gpu:2 gpus_per_switch:1");
  for (int i : {0, 1}) {
    Node& gpu = node_of(survey, "gpu" + std::to_string(i));
    gpu.device = "10de:2330";
    gpu.bus_id = i == 0 ? "0000:c1:00.0" : "0000:07:00.0";
    gpu.names = {"nvml" + std::to_string(1 - i)};
  }
  EXPECT_THAT(text_of(BindingForm::Text, survey),
              AllOf(HasSubstr("rank 0   gpu1     0000:07:00.0  device 0  cpus 4-7"),
                    HasSubstr("\n  ranks count GPUs so with CUDA_DEVICE_ORDER=PCI_BUS_ID\n")));
  EXPECT_THAT(text_of(BindingForm::Numactl, survey), HasSubstr("\nexport CUDA_DEVICE_ORDER=PCI_BUS_ID "));
  EXPECT_THAT(text_of(BindingForm::Torchrun, survey), HasSubstr("\nexport CUDA_DEVICE_ORDER=PCI_BUS_ID "));
  EXPECT_THAT(text_of(BindingForm::Mpirun, survey), HasSubstr("mpirun -x CUDA_DEVICE_ORDER=PCI_BUS_ID --mca "));
  EXPECT_THAT(text_of(BindingForm::Json, survey),
              AllOf(HasSubstr(R"("cuda_device_order": "PCI_BUS_ID")"),
                    HasSubstr(R"({"rank": 0, "device": "gpu1", "bus_id": "0000:07:00.0", "index": 0, "cpus": "4-7")")));
}

TEST(BindingText, like_hosts_are_told_once_but_named_in_a_rankfile) {
  const Survey survey = machine_of("dgx-h100 hosts:3");
  EXPECT_THAT(text_of(BindingForm::Text, survey), HasSubstr("host0 and 2 hosts like it"));
  EXPECT_THAT(text_of(BindingForm::Mpirun, survey), HasSubstr("\nrank 16=host2 slot=0-13\n"));
}

// A host name that a dump brought along.
TEST(BindingText, names_of_a_dump_stay_on_their_line) {
  Survey survey = machine_of("dgx-h100");
  survey.hosts[0].hostname = "node7\nreboot $(id)";
  node_of(survey, "nic0").name = "nic0\nreboot";
  for (BindingForm form : {BindingForm::Text, BindingForm::Numactl, BindingForm::Mpirun, BindingForm::Torchrun})
    EXPECT_THAT(text_of(form, survey), Not(HasSubstr("\nreboot"))) << static_cast<int>(form);
  EXPECT_THAT(text_of(BindingForm::Mpirun, survey), HasSubstr("\nrank 3=node7-reboot---id- slot=42-55\n"));
}

TEST(Environment, a_machine_whose_defaults_fit_needs_nothing) {
  EXPECT_TRUE(settings_of(machine_of("dgx-h100")).empty());
  EXPECT_TRUE(settings_of(machine_of("cpu-2socket")).empty());
}

// As the audit names them: by what verbs calls them, and by the ports that are up.
TEST(Environment, nics_are_named_as_verbs_names_them_with_the_ports_that_are_up) {
  Survey survey = machine_of("dgx-h100 nic:4");
  node_of(survey, "nic3").network_gbs = 5;
  node_of(survey, "nic1").names = {"eth1", "mlx5_1"};
  DeviceFacts& facts = survey.hosts[0].devices.emplace_back();
  facts.node = "nic0";
  facts.verbs = "mlx5_0";
  facts.ports.resize(2);
  facts.ports[0].number = 1;
  facts.ports[0].state = "DOWN";
  facts.ports[1].number = 2;
  facts.ports[1].state = "ACTIVE";
  const std::vector<Setting> settings = settings_of(survey);
  EXPECT_EQ(value_in(settings, "NCCL_IB_HCA"), "=mlx5_0,mlx5_1,nic2");
  EXPECT_EQ(value_in(settings, "UCX_NET_DEVICES"), "mlx5_0:2,mlx5_1:1,nic2:1");
}

TEST(Environment, slow_and_dead_nics_are_kept_out_by_name) {
  Survey survey = machine_of("dgx-h100 nic:4");
  node_of(survey, "nic3").network_gbs = 5;
  DeviceFacts& facts = survey.hosts[0].devices.emplace_back();
  facts.node = "nic0";
  facts.verbs = "mlx5_0";
  const std::vector<Setting> settings = settings_of(survey);
  EXPECT_EQ(value_in(settings, "NCCL_IB_HCA"), "=mlx5_0,nic1,nic2");
  EXPECT_EQ(value_in(settings, "UCX_NET_DEVICES"), "mlx5_0:1,nic1:1,nic2:1");
  EXPECT_THAT(settings.front().reason, HasSubstr("nic3 is not used: 40 Gbit/s"));
}

TEST(Environment, the_interface_that_leads_out_is_named_if_local_ones_would_be_tried) {
  Survey survey = machine_of("dgx-h100");
  std::vector<InterfaceFacts>& interfaces = survey.hosts[0].interfaces;
  InterfaceFacts& out = interfaces.emplace_back();
  out.name = "eno1";
  out.kind = "physical";
  out.state = "up";
  out.addresses = {"10.0.0.4"};
  out.default_route = true;
  EXPECT_EQ(value_in(settings_of(survey), "NCCL_SOCKET_IFNAME"), "unset");
  InterfaceFacts& veth = interfaces.emplace_back();
  veth.name = "cali1234";
  veth.kind = "veth";
  veth.state = "up";
  veth.addresses = {"192.168.1.1"};
  EXPECT_EQ(value_in(settings_of(survey), "NCCL_SOCKET_IFNAME"), "=eno1");
}

TEST(Environment, advice_and_audit_judge_interfaces_alike) {
  HostFacts facts;
  const auto add = [&](const char* name, const char* kind, const char* address, std::optional<double> speed_gbs) {
    InterfaceFacts& one = facts.interfaces.emplace_back();
    one.name = name;
    one.kind = kind;
    one.state = "up";
    one.addresses = {address};
    one.speed_gbs = speed_gbs;
    return &one;
  };
  add("eno1", "physical", "10.0.0.4", 0.125)->default_route = true;
  add("eno2", "physical", "10.0.0.5", 3.125)->default_route = true;
  add("usb0", "physical", "169.254.0.1", {});
  add("docker0", "bridge", "172.17.0.1", {});
  add("br-1", "bridge", "172.18.0.1", {});
  add("tun0", "tun", "10.8.0.1", {});
  EXPECT_EQ(leading_out(facts)->name, "eno2");
  EXPECT_EQ(better_interface(facts), "eno2");
  facts.interfaces[1].addresses = {"169.254.3.4"};
  EXPECT_EQ(better_interface(facts), "eno1") << "not what it would warn of";
  facts.interfaces[1].addresses.clear();
  EXPECT_EQ(better_interface(facts), "eno1") << "not one without any";
  EXPECT_THAT(misleading_interfaces(facts), testing::ElementsAre("usb0", "br-1"));
}

TEST(Environment, names_of_a_dump_stay_on_their_line_and_in_their_quotes) {
  Survey survey = machine_of("dgx-h100");
  survey.hosts[0].hostname = "node7\nreboot";
  survey.hosts[0].environment = std::vector<Variable>{{"NCCL_SOCKET_IFNAME", "x\nreboot"}};
  InterfaceFacts& out = survey.hosts[0].interfaces.emplace_back();
  out.name = "eno1\nreboot; $(id)'";
  out.kind = "physical";
  out.state = "up";
  out.addresses = {"10.0.0.4"};
  out.default_route = true;
  InterfaceFacts veth = out;
  veth.name = "veth\nreboot";
  veth.kind = "veth";
  veth.default_route = false;
  survey.hosts[0].interfaces.push_back(veth);
  Locality locality(survey.graph);
  const std::string text = environment_text(survey, locality);
  EXPECT_THAT(text, Not(HasSubstr("\nreboot")));
  const std::string quoted = R"('eno1-reboot; $(id)'\''')";
  EXPECT_THAT(text, HasSubstr("\nexport GLOO_SOCKET_IFNAME=" + quoted + "\n"));
}

void add_roce(Survey& survey, std::string_view nic, int index) {
  DeviceFacts& facts = survey.hosts[0].devices.emplace_back();
  facts.node = nic;
  PortFacts& port = facts.ports.emplace_back();
  port.link_layer = "Ethernet";
  port.gids = {{0, "fe80:0000:0000:0000:0e42:a1ff:fe03:0001", "IB/RoCE v1", "eth0"},
               {index, "0000:0000:0000:0000:0000:ffff:0a00:0004", "RoCE v2", "eth0"}};
}

TEST(Environment, one_gid_index_is_given_only_if_it_fits_all_ports) {
  Survey survey = machine_of("gpu:2 nic:2 hdr");
  add_roce(survey, "nic0", 3);
  EXPECT_EQ(value_in(settings_of(survey), "NCCL_IB_GID_INDEX"), "unset");  // nothing is known of nic1
  add_roce(survey, "nic1", 3);
  EXPECT_EQ(value_in(settings_of(survey), "NCCL_IB_GID_INDEX"), "3");
  survey.hosts[0].devices.back().ports[0].gids[1].index = 5;
  EXPECT_EQ(value_in(settings_of(survey), "NCCL_IB_GID_INDEX"), "unset");
}

// A machine whose GPUs and NICs are below the host bridges themselves.
Survey without_switches(std::string_view line) {
  Survey survey = machine_of(line);
  std::vector<Node>& nodes = survey.graph.nodes;
  for (Node& node : nodes) {
    if (node.kind != NodeKind::Gpu && node.kind != NodeKind::Nic) continue;
    const int bridge = nodes[static_cast<std::size_t>(node.parent)].parent;
    for (Link& link : survey.graph.links)
      for (auto [own, other] : {std::pair{&link.a, &link.b}, std::pair{&link.b, &link.a}})
        if (*own == node.id && *other == node.parent) *other = bridge;
    node.parent = bridge;
    if (node.kind == NodeKind::Gpu) node.device = "10de:2330";
  }
  return survey;
}

TEST(Environment, a_gid_with_ffff_in_it_is_not_an_ipv4_address) {
  Survey survey = machine_of("gpu:2 nic:1 hdr");
  add_roce(survey, "nic0", 3);
  GidFacts& gid = survey.hosts[0].devices.back().ports[0].gids[1];
  for (const char* address : {"2001:0db8:ffff:0000:0000:0000:0000:0001", "2001:db8:ffff::"}) {
    gid.address = address;
    EXPECT_EQ(value_in(settings_of(survey), "NCCL_IB_GID_INDEX"), "unset") << address;
  }
  gid.address = "::FFFF:10.0.0.4";
  EXPECT_EQ(value_in(settings_of(survey), "NCCL_IB_GID_INDEX"), "3");
}

// As the audit judges it: modules that are loaded but not registered, or open ones on a kernel without DMA-BUF, are no
// way to GPU memory.
TEST(Environment, a_level_of_gpudirect_is_given_only_where_gpudirect_works) {
  Survey survey = without_switches("packages:1 gpu:2 nic:2 hdr");
  KernelFacts& kernel = survey.hosts[0].kernel;
  kernel.modules = std::vector<std::string>{"nvidia", "nvidia_peermem"};
  ASSERT_EQ(value_in(settings_of(survey), "NCCL_NET_GDR_LEVEL"), "PHB");
  kernel.peer_memory_clients = std::vector<std::string>{};
  EXPECT_EQ(value_in(settings_of(survey), "NCCL_NET_GDR_LEVEL"), "unset");
  kernel.modules = std::vector<std::string>{"nvidia"};
  kernel.nvidia_open = true;
  kernel.version = "5.4.0";
  EXPECT_EQ(value_in(settings_of(survey), "NCCL_NET_GDR_LEVEL"), "unset");
  kernel.version = "6.1.0";
  EXPECT_EQ(value_in(settings_of(survey), "NCCL_NET_GDR_LEVEL"), "PHB");
}

TEST(Environment, a_topology_file_that_nobody_wrote_is_not_exported) {
  Survey survey = without_switches("packages:1 gpu:2 nic:2 hdr");
  survey.hosts[0].platform.virtual_machine = true;
  Locality locality(survey.graph);
  const std::string text = environment_text(survey, locality);
  EXPECT_THAT(text, HasSubstr("\n# export NCCL_TOPO_FILE=FILE\n"));
  EXPECT_THAT(text, HasSubstr("--format nccl-xml"));
  EXPECT_THAT(text, Not(HasSubstr("\nexport NCCL_TOPO_FILE")));
}

TEST(Environment, rails_keep_rings_to_their_nics) {
  EXPECT_EQ(value_in(settings_of(machine_of("dgx-h100 hosts:4")), "NCCL_CROSS_NIC"), "unset");
  const std::vector<Setting> only = settings_of(machine_of("dgx-h100 hosts:4 fabric:rail-only leaf_hosts:4"));
  EXPECT_EQ(value_in(only, "NCCL_CROSS_NIC"), "0");
  EXPECT_THAT(only.front().reason, HasSubstr("rails do not meet"));
  const std::vector<Setting> joined = settings_of(machine_of("dgx-h100 hosts:4 fabric:rail leaf_hosts:4"));
  EXPECT_THAT(joined.front().reason, HasSubstr("over the spine"));
}

TEST(Environment, redirected_requests_between_gpus_turn_peer_copies_off_without_nvlink) {
  Survey survey = machine_of("packages:2 gpu:4 gpus_per_switch:2 nic:2 hdr");
  for (Node& node : survey.graph.nodes)
    if (node.kind == NodeKind::Gpu) node.device = "10de:2235";
  survey.hosts[0].devices.resize(2);
  survey.hosts[0].devices[0].node = "pci0";  // the root port above the switch
  survey.hosts[0].devices[0].acs = AcsFacts{true, true, true, false, false};
  survey.hosts[0].devices[1].bus_id = "0000:00:1c.4";  // a port that is above nothing of the graph
  survey.hosts[0].devices[1].acs = AcsFacts{true, true, true, false, false};
  EXPECT_EQ(value_in(settings_of(survey), "NCCL_P2P_DISABLE"), "unset");
  DeviceFacts& between = survey.hosts[0].devices.emplace_back();
  between.node = "switch0";
  between.acs = AcsFacts{};
  EXPECT_EQ(value_in(settings_of(survey), "NCCL_P2P_DISABLE"), "unset");
  survey.hosts[0].devices.back().acs->request_redirect = true;
  const std::vector<Setting> settings = settings_of(survey);
  EXPECT_EQ(value_in(settings, "NCCL_P2P_DISABLE"), "1");
  EXPECT_THAT(settings.back().reason, HasSubstr("switch0 sends what gpu0 and gpu1 copy to each other to the root"));
}

TEST(Environment, gpus_that_the_process_does_not_see_do_not_count_as_far) {
  Survey survey = machine_of("packages:2 cores:4 gpu:4 gpus_per_switch:2");
  survey.hosts[0].process.allowed_cpus = "0-3";
  EXPECT_EQ(value_in(settings_of(survey), "NCCL_IGNORE_CPU_AFFINITY"), "1");
  survey.hosts[0].environment = std::vector<Variable>{{"CUDA_VISIBLE_DEVICES", "0"}};
  EXPECT_EQ(value_in(settings_of(survey), "NCCL_IGNORE_CPU_AFFINITY"), "unset");
  survey.hosts[0].environment = std::vector<Variable>{{"CUDA_VISIBLE_DEVICES", "3"}};
  EXPECT_EQ(value_in(settings_of(survey), "NCCL_IGNORE_CPU_AFFINITY"), "1");
}

// NCCL writes the ports of one PCI function as several <net> of one <nic>, each with the name of its device.
TEST(Environment, ports_of_one_nic_are_not_added_up_and_each_has_its_device) {
  Survey survey = machine_of("packages:1 gpu:1 nic:3 hdr");
  survey.nccl_version = 1;
  node_of(survey, "nic0").names = {"mlx5_0", "mlx5_1"};
  node_of(survey, "nic0").network_gbs = 37.5;
  node_of(survey, "nic2").network_gbs = 5;
  DeviceFacts& facts = survey.hosts[0].devices.emplace_back();
  facts.node = "nic0";
  facts.ports.resize(2);
  facts.ports[0].rate_gbs = 25;
  facts.ports[1].number = 2;
  facts.ports[1].rate_gbs = 12.5;
  const std::vector<Setting> settings = settings_of(survey);
  EXPECT_EQ(value_in(settings, "NCCL_IB_HCA"), "=mlx5_0,mlx5_1,nic1");
  EXPECT_EQ(value_in(settings, "UCX_NET_DEVICES"), "mlx5_0:1,mlx5_1:2,nic1:1");
  EXPECT_THAT(settings.front().reason, HasSubstr("nic2 is not used: 40 Gbit/s is much less than the 200 of others"));
}

TEST(Environment, lines_are_for_a_shell_and_say_what_is_set_now) {
  Survey survey = machine_of("dgx-h100");
  survey.hosts[0].fabric_manager_start_s = 900;
  survey.hosts[0].devices.emplace_back().node = "gpu0";
  survey.hosts[0].devices.back().fabric_registered_s = 60;
  survey.hosts[0].environment = std::vector<Variable>{{"NCCL_NVLS_ENABLE", "1"}};
  Locality locality(survey.graph);
  const std::string text = environment_text(survey, locality);
  EXPECT_THAT(text, HasSubstr("\n# (now it is 1)\nexport NCCL_NVLS_ENABLE=0\n"));
}

}  // namespace
}  // namespace weft::topology::advice
