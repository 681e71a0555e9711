// Environments: the variables that known machines need, and none without evidence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/topology/support/machine_survey.hpp"
#include "topology/advice/environment.hpp"
#include "topology/interfaces.hpp"

namespace weft::topology::advice {
namespace {

using test::machine_of;
using test::node_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

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

// "export NAME==eno1" would make zsh look for a program of that name.
TEST(Environment, a_value_that_begins_with_an_equals_sign_is_quoted) {
  Survey survey = machine_of("dgx-h100");
  survey.hosts[0].interfaces.resize(2);
  InterfaceFacts& out = survey.hosts[0].interfaces[0];
  out.name = "eno1";
  out.kind = "physical";
  out.state = "up";
  out.addresses = {"10.0.0.4"};
  out.default_route = true;
  InterfaceFacts& veth = survey.hosts[0].interfaces[1];
  veth = out;
  veth.name = "br-0123";
  veth.kind = "bridge";
  veth.default_route = false;
  Locality locality(survey.graph);
  const std::string text = environment_text(survey, locality);
  EXPECT_THAT(text, HasSubstr("\nexport NCCL_SOCKET_IFNAME='=eno1'\n"));
  EXPECT_THAT(text, HasSubstr("\nexport GLOO_SOCKET_IFNAME=eno1\n"));
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
