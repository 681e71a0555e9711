// hwloc XML of generations 1, 2 and 3 is read by one reader: what differs between them, and what is refused.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/topology/support/recorded_tree.hpp"
#include "topology/import/import.hpp"
#include "topology/locality.hpp"
#include "topology/survey.hpp"

namespace weft::topology {
namespace {

using testing::HasSubstr;

Result<Survey> read(std::string_view text) {
  const std::string path = "machine.xml";
  return read_hwloc_xml(path, text);
}

Graph graph_of(std::string_view text) {
  Result<Survey> survey = read(text);
  EXPECT_TRUE(survey) << survey.status().to_string();
  return survey ? std::move(survey->graph) : Graph();
}

std::string refusal(std::string_view text) {
  const Result<Survey> survey = read(text);
  return survey ? std::string("accepted") : std::string(survey.error().message());
}

const Node& node(const Graph& graph, std::string_view name) {
  const std::optional<int> id = graph.find(name);
  EXPECT_TRUE(id) << name;
  return graph.nodes[static_cast<std::size_t>(id.value_or(0))];
}

std::string core(int number) {
  return fmt::format(
      "<object type='Core' cpuset='{0:#x}' os_index='{1}'><object type='PU' os_index='{1}' cpuset='{0:#x}'/>"
      "</object>",
      1U << number, number);
}

// Two sockets inside two NUMA nodes, as hwloc 1 has them, the second without memory, and a GPU and a NIC on the first.
std::string first_generation() {
  return "<?xml version='1.0'?><!DOCTYPE topology SYSTEM 'hwloc.dtd'><topology>"
         "<object type='Machine' os_index='0' cpuset='0x0000000f' nodeset='0x00000003'>"
         "<object type='NUMANode' os_index='0' cpuset='0x3' nodeset='0x1' local_memory='1024'>"
         "<object type='Socket' os_index='0' cpuset='0x3' nodeset='0x1'><info name='CPUModel' value='Old CPU  '/>"
         "<object type='Cache' cpuset='0x3' nodeset='0x1' depth='3' cache_type='0'>" +
         core(0) + core(1) +
         "</object></object>"
         "<object type='Bridge' os_index='0' bridge_type='0-1' depth='0' bridge_pci='0000:[00-03]'>"
         "<object type='Bridge' os_index='16' bridge_type='1-1' depth='1' bridge_pci='0000:[01-01]' "
         "pci_busid='0000:00:01.0' pci_type='0604 [8086:3c04] [0000:0000] 07' pci_link_speed='0.000000'>"
         "<object type='PCIDev' os_index='4096' pci_busid='0000:01:00.0' pci_type='0302 [10de:1091] [10de:0887] a1' "
         "pci_link_speed='4.000000'><object type='OSDev' name='cuda0' osdev_type='5'/></object></object>"
         "<object type='PCIDev' os_index='8192' pci_busid='0000:02:00.0' pci_type='0c06 [15b3:6746] [15b3:6746] b0' "
         "pci_link_speed='0'><object type='OSDev' name='ib0' osdev_type='2'/>"
         "<object type='OSDev' name='mlx4_0' osdev_type='3'/></object></object></object>"
         "<object type='NUMANode' os_index='4294967295' cpuset='0xc' nodeset='0x2'>"
         "<object type='Socket' os_index='1' cpuset='0xc' nodeset='0x2'>" +
         core(2) + core(3) + "</object></object></object></topology>";
}

TEST(HwlocGenerations, the_first_has_numa_nodes_in_the_main_tree) {
  const Graph graph = graph_of(first_generation());
  EXPECT_EQ(graph.ids(NodeKind::Package).size(), 2u);
  EXPECT_EQ(node(graph, "numa0").parent, node(graph, "package0").id);
  EXPECT_EQ(node(graph, "numa0").memory_bytes, 1024u);
  EXPECT_EQ(node(graph, "numa1").parent, node(graph, "package1").id);  // a NUMA node without a number or memory
  EXPECT_EQ(node(graph, "numa1").memory_bytes, std::nullopt);
  EXPECT_EQ(node(graph, "package0").model, "Old CPU");
  EXPECT_EQ(node(graph, "cores0").cpus, "0-1");
  EXPECT_EQ(node(graph, "gpu0").cpus, "0-1");
  EXPECT_THAT(node(graph, "gpu0").names, testing::ElementsAre("cuda0"));
  EXPECT_THAT(node(graph, "mlx4_0").names, testing::ElementsAre("mlx4_0", "ib0"));
  EXPECT_EQ(node(graph, "pci0000:00").parent, node(graph, "numa0").id);
  EXPECT_EQ(Locality(graph).pci_link_gbs(node(graph, "gpu0").id), 4.0);
  EXPECT_EQ(Locality(graph).pci_link_gbs(node(graph, "mlx4_0").id), std::nullopt);
}

TEST(HwlocGenerations, a_machine_without_numa_nodes_is_one) {
  const Graph graph = graph_of(
      "<topology><object type='Machine' cpuset='0x3' nodeset='0xf...f' local_memory='4096'>"
      "<object type='Socket' cpuset='0x3' nodeset='0xf...f'>" +
      core(0) + core(1) + "</object></object></topology>");
  EXPECT_EQ(node(graph, "numa0").cpus, "0-1");
  EXPECT_EQ(node(graph, "numa0").memory_bytes, 4096u);
  EXPECT_EQ(node(graph, "numa0").parent, node(graph, "package0").id);
  EXPECT_EQ(graph.nodes.at(0).cores, 2);
}

TEST(HwlocGenerations, the_third_tells_of_the_machine_beside_it) {
  const auto facts_of = [](const std::string& infos) {
    test::RecordedTree folder;
    folder.write("/machine.xml", "<topology version='3.0'><object type='Machine' cpuset='0x3' nodeset='0x1'>" +
                                     core(0) + core(1) + "</object>" + infos + "</topology>");
    return load_survey(folder.root() + "/machine.xml").value().hosts.front();
  };
  const auto info = [](const char* name, const char* value) {
    return fmt::format("<info name='{}' value='{}'/>", name, value);
  };
  const HostFacts linux = facts_of(info("Backend", "Linux") + info("Backend", "x86") + info("OSRelease", "6.1.0"));
  EXPECT_EQ(linux.kernel.version, "6.1.0");
  EXPECT_EQ(linux.kernel.numa, std::nullopt);
  EXPECT_EQ(facts_of(info("Backend", "x86")).kernel.numa, false);
}

// Two GPUs on an NVSwitch, one linked to the CPU too; a NUMA node that is a GPU's memory.
std::string third_generation(std::string_view values) {
  return fmt::format(
      "<!DOCTYPE topology SYSTEM 'hwloc2.dtd'><topology version='3.0'>"
      "<object type='Machine' os_index='0' cpuset='0x3' nodeset='0x5' gp_index='1'>"
      "<object type='Package' os_index='0' cpuset='0x3' nodeset='0x5' gp_index='2'>"
      "<object type='NUMANode' os_index='0' cpuset='0x3' nodeset='0x1' gp_index='3' local_memory='7'/>"
      "<object type='NUMANode' os_index='2' cpuset='0x0' nodeset='0x4' gp_index='4' subtype='GPUMemory'/>{}{}"
      "<object type='Bridge' gp_index='5' bridge_type='0-1' depth='0' bridge_pci='10000:[00-09]'>"
      "<object type='PCIDev' gp_index='6' pci_busid='10000:01:00.0' pci_type='0302 [10de:1db8] [10de:131d] a1 00' "
      "pci_link_speed='15.75'><object type='OSDev' gp_index='7' name='nvml0' osdev_type='4'/></object>"
      "<object type='PCIDev' gp_index='8' pci_busid='10000:02:00.0' pci_type='0302 [10de:1db8] [10de:131d] a1 00'>"
      "<object type='OSDev' gp_index='9' name='cuda1' osdev_type='12'/></object>"
      "<object type='PCIDev' gp_index='10' subtype='NVSwitch' pci_busid='10000:03:00.0' pci_type='0680 [10de:1ac2]'/>"
      "<object type='PCIDev' gp_index='11' pci_busid='10000:04:00.0' pci_type='0207 [15b3:1021] [0:0] 00 00'>"
      "<object type='OSDev' gp_index='12' name='net7' osdev_type='16'/>"
      "<object type='OSDev' gp_index='13' name='mlx5_7' osdev_type='48'/></object></object></object></object>"
      "<distances2hetero nbobjs='4' kind='25' name='NVLinkBandwidth'>"
      "<indexes length='1'>OSDev:7 OSDev:9 </indexes><indexes length='1'>PCIDev:10 Package:2 </indexes>"
      "<u64values length='1'>{}</u64values></distances2hetero></topology>",
      core(0), core(1), values);
}

constexpr std::string_view kMatrix = "0 0 50000 25000 0 0 50000 0 50000 50000 0 0 25000 0 0 0";

TEST(HwlocGenerations, the_third_writes_uses_of_os_devices_as_a_mask) {
  const Graph graph = graph_of(third_generation(kMatrix));
  EXPECT_THAT(node(graph, "gpu0").names, testing::ElementsAre("nvml0"));
  EXPECT_THAT(node(graph, "gpu1").names, testing::ElementsAre("cuda1"));
  EXPECT_THAT(node(graph, "mlx5_7").names, testing::ElementsAre("mlx5_7", "net7"));
  EXPECT_TRUE(node(graph, "mlx5_7").fabric);
  EXPECT_EQ(node(graph, "gpu1").bus_id, "10000:02:00.0");
  EXPECT_EQ(node(graph, "numa2").cpus, "");
}

TEST(HwlocGenerations, matrices_name_objects_of_several_types) {
  const Graph graph = graph_of(third_generation(kMatrix));
  const int fabric = node(graph, "nvswitch0").id;
  int to_switch = 0;
  int to_package = 0;
  for (const Link& link : graph.links) {
    if (link.kind != LinkKind::NvLink) continue;
    to_switch += link.a == fabric || link.b == fabric ? link.count : 0;
    to_package += link.b == node(graph, "package0").id ? link.count : 0;
  }
  EXPECT_EQ(to_switch, 4);
  EXPECT_EQ(to_package, 1);
}

TEST(HwlocGenerations, what_makes_no_sense_is_refused_with_its_line) {
  EXPECT_EQ(refusal("<topology version='2.0'>\n</topology>"),
            "machine.xml:1: holds no object of type Machine, so it describes no machine");
  EXPECT_THAT(refusal("<topology version='4.0'/>"), HasSubstr("machine.xml:1: hwloc XML of version \"4.0\""));
  EXPECT_THAT(refusal("<topology><object type='Machine'/></topology>"), HasSubstr("the machine has no CPUs"));
  EXPECT_THAT(refusal("<topology>\n<object type='Machine' cpuset='three'/></topology>"),
              HasSubstr("machine.xml:2: cpuset \"three\" is no set"));
  EXPECT_THAT(refusal("<topology><object type='Machine' cpuset='0x1'>\n<object type='PCIDev' pci_busid='1'/></object>"
                      "</topology>"),
              HasSubstr("machine.xml:2: pci_busid \"1\" is no bus id"));
  EXPECT_THAT(refusal("<topology><object type='Machine' cpuset='0x1'/></topology><system/>"),
              HasSubstr("machine.xml:1: <system> beside <topology>: give one file for each"));
  EXPECT_THAT(refusal("<topology><object type='Machine' cpuset='0x1'/></topology>\n<topology/>"),
              HasSubstr("machine.xml:2: a second <topology>"));
  EXPECT_THAT(refusal("<!DOCTYPE topology [<!ENTITY a 'b'>]><topology/>"),
              HasSubstr("a document type with declarations"));
  EXPECT_THAT(refusal("<topology>\n\n<object"), HasSubstr("machine.xml:3: is not well-formed XML, or cut"));
  EXPECT_THAT(refusal(third_generation("0 0 0")), HasSubstr("the matrix NVLinkBandwidth does not hold 16 numbers"));
  EXPECT_THAT(refusal(third_generation("0 0 0 x")), HasSubstr("does not hold 16 numbers"));
}

TEST(HwlocGenerations, no_number_of_objects_is_too_many_to_say_so) {
  std::string deep = "<topology>";
  for (int i = 0; i < 1000; ++i) deep += "<object type='Group' cpuset='0x1'>";
  for (int i = 0; i < 1000; ++i) deep += "</object>";
  EXPECT_THAT(refusal(deep + "</topology>"), HasSubstr("nested more than 64 deep"));
  std::string wide = "<topology><object type='Machine' cpuset='0x1'>";
  for (int i = 0; i < 40'000; ++i) wide += "<object type='Misc'/>";
  EXPECT_THAT(refusal(wide + "</object></topology>"), HasSubstr("has more than 32768 objects"));
  std::string tags = "<topology>";
  for (int i = 0; i < 300'000; ++i) tags += "<a/>";
  EXPECT_THAT(refusal(tags + "</topology>"), HasSubstr("has more than 262144 tags"));
}

}  // namespace
}  // namespace weft::topology
