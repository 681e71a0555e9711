// NCCL and RCCL topology XML: what the files say is in the graph, what they do not say is unknown, and what is wrong
// with them is told with file and line.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/topology/support/recorded_tree.hpp"
#include "topology/locality.hpp"
#include "topology/survey.hpp"
#include "weft/graph.hpp"

namespace weft::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Graph machine(const std::string& file) {
  Result<Graph> graph = load("tests/topology/data/" + file);
  EXPECT_TRUE(graph) << graph.status().to_string();
  return graph ? std::move(graph).value() : Graph();
}

const Node& node(const Graph& graph, std::string_view name) {
  return graph.nodes.at(static_cast<std::size_t>(graph.find(name).value()));
}

PathClass path_class(const Graph& graph, std::string_view from, std::string_view to) {
  return graph.best_path(graph.find(from).value(), graph.find(to).value()).path_class;
}

// What load() says of a file with that text; the name of its folder is cut off.
std::string refusal(std::string_view text) {
  test::RecordedTree folder;
  folder.write("/topo.xml", text);
  const Result<Graph> graph = load(folder.root() + "/topo.xml");
  if (graph) return "accepted";
  const std::string message(graph.error().message());
  EXPECT_THAT(message, StartsWith(folder.root() + "/"));
  EXPECT_EQ(message.find('\n'), std::string::npos);
  return message.substr(folder.root().size() + 1);
}

// The links between the only GPU of a file and its NUMA node, which is the CPU.
std::vector<Link> links_to_cpu(std::string_view gpu) {
  test::RecordedTree folder;
  folder.write("/topo.xml", fmt::format("<system version='1'><cpu numaid='0' affinity='ff'><pci busid='0009:01:00.0' "
                                        "class='0x030200' vendor='0x10de'>{}</pci></cpu></system>",
                                        gpu));
  const Result<Graph> graph = load(folder.root() + "/topo.xml");
  EXPECT_TRUE(graph) << graph.status().to_string();
  std::vector<Link> links;
  if (graph)
    for (const Link& link : graph->links)
      if (std::minmax(link.a, link.b) == std::minmax(graph->find("gpu0").value(), graph->find("numa0").value()))
        links.push_back(link);
  return links;
}

TEST(NcclXml, c2c_joins_the_gpu_of_a_superchip_to_its_cpu) {
  const std::vector<Link> links = links_to_cpu("<gpu dev='0' sm='90'><c2c bw='44712' count='10'/></gpu>");
  ASSERT_EQ(links.size(), 1u);
  EXPECT_EQ(links[0].kind, LinkKind::C2c);
  EXPECT_EQ(links[0].count, 10);
  EXPECT_DOUBLE_EQ(links[0].bandwidth_gbs, 447.12);
  EXPECT_TRUE(links_to_cpu("<gpu dev='0' sm='121'><c2c bw='0' count='14'/></gpu>").empty()) << "no rate is told";
}

TEST(NcclXml, nvlink_joins_the_gpu_of_a_power9_to_its_cpu) {
  const std::vector<Link> links =
      links_to_cpu("<gpu dev='0' sm='70'><nvlink target='0004:00:01.0' count='3' tclass='0x068001'/></gpu>");
  ASSERT_EQ(links.size(), 1u);
  EXPECT_EQ(links[0].kind, LinkKind::NvLink);
  EXPECT_EQ(links[0].count, 3);
  EXPECT_DOUBLE_EQ(links[0].bandwidth_gbs, 75);
}

TEST(NcclXml, a_cpu_element_is_a_numa_node_and_packages_are_unknown) {
  const Graph graph = machine("nccl-two-cpus.xml");
  EXPECT_TRUE(graph.check().ok());
  EXPECT_TRUE(graph.ids(NodeKind::Package).empty());
  EXPECT_EQ(node(graph, "numa0").cpus, "0-7,32-47");
  EXPECT_EQ(node(graph, "numa1").cpus, "8-31,48-63");
  EXPECT_EQ(graph.nodes[0].cores, std::nullopt);
  EXPECT_EQ(*from_json(to_json(graph)), graph);
}

TEST(NcclXml, devices_have_ids_and_links_as_far_as_the_file_says) {
  const Graph graph = machine("nccl-two-cpus.xml");
  EXPECT_EQ(node(graph, "gpu0").bus_id, "0000:11:00.0");
  EXPECT_EQ(node(graph, "gpu0").device, "10de:2330");
  EXPECT_EQ(node(graph, "gpu0").pci.gts, 32);
  EXPECT_EQ(node(graph, "gpu0").pci.width, 16);
  EXPECT_EQ(node(graph, "gpu1").pci, PciLink());  // "Unknown speed", width 255
  EXPECT_EQ(node(graph, "gpu2").bus_id, "0000:1f:00.0");
  EXPECT_EQ(Locality(graph).pci_link_gbs(graph.find("gpu1").value()), std::nullopt);
  EXPECT_EQ(graph.ids(NodeKind::PciSwitch).size(), 2u);  // 0000:a1:00.0 has nothing below
}

TEST(NcclXml, a_nic_function_with_two_ports_is_one_nic) {
  const Graph graph = machine("nccl-two-cpus.xml");
  const Node& nic = node(graph, "mlx5_0");
  EXPECT_THAT(nic.names, ElementsAre("mlx5_0", "mlx5_1"));
  EXPECT_EQ(nic.network_gbs, 50);
  EXPECT_TRUE(nic.fabric);
  EXPECT_EQ(node(graph, "nic0").bus_id, "0000:a0:00.0");
  EXPECT_EQ(graph.ids(NodeKind::Nic).size(), 2u);
}

TEST(NcclXml, classes_follow_the_tree) {
  const Graph graph = machine("nccl-two-cpus.xml");
  EXPECT_EQ(path_class(graph, "gpu0", "mlx5_0"), PathClass::Pix);
  EXPECT_EQ(path_class(graph, "gpu1", "mlx5_0"), PathClass::Pxb);
  EXPECT_EQ(path_class(graph, "gpu2", "mlx5_0"), PathClass::Phb);
  EXPECT_EQ(path_class(graph, "gpu0", "nic0"), PathClass::Sys);
}

TEST(NcclXml, what_the_graph_has_no_place_for_is_among_the_facts) {
  const Result<Survey> survey = load_survey("tests/topology/data/nccl-two-cpus.xml");
  ASSERT_TRUE(survey) << survey.status().to_string();
  EXPECT_EQ(survey->nccl_version, 1);
  const HostFacts& facts = survey->facts(0);
  EXPECT_EQ(facts.platform.cpu_vendor, "GenuineIntel");
  EXPECT_EQ(facts.platform.cpu_model, 143);
  ASSERT_NE(facts.device("gpu1"), nullptr);
  EXPECT_EQ(facts.device("gpu1")->index, 1);
  EXPECT_EQ(facts.device("gpu1")->sm, 90);
  EXPECT_EQ(facts.device("gpu1")->pci_class, "0x030200");
  EXPECT_EQ(facts.device("gpu2")->sm, std::nullopt);
  ASSERT_NE(facts.device("mlx5_0"), nullptr);
  EXPECT_EQ(facts.device("mlx5_0")->system_image_guid, "a100:0000:0000:0000");
  ASSERT_EQ(facts.device("mlx5_0")->ports.size(), 2u);
  EXPECT_EQ(facts.device("mlx5_0")->ports[1].number, 2);
  EXPECT_EQ(facts.device("mlx5_0")->ports[1].rate_gbs, 25);
  EXPECT_EQ(load_survey("tests/topology/data/rccl-xgmi.xml")->facts(0).device("gpu1")->instruction_set, "gfx942");
}

// NCCL reads what its file leaves out from the machine; what stands there empty it could not read.
TEST(NcclXml, a_link_that_is_hidden_is_not_one_that_is_left_out) {
  test::RecordedTree folder;
  const auto hidden = [&](std::string_view attributes) {
    folder.write("/topo.xml", fmt::format("<system version='1'><cpu numaid='0'><pci busid='0000:01:00.0' "
                                          "class='0x030200' {}><gpu dev='0'/></pci></cpu></system>",
                                          attributes));
    return load_survey(folder.root() + "/topo.xml")->facts(0).device("gpu0")->link_hidden;
  };
  EXPECT_EQ(hidden(""), std::nullopt);
  EXPECT_EQ(hidden("link_speed='' link_width=''"), true);
  EXPECT_EQ(hidden("link_speed='Unknown' link_width='0'"), true);
  EXPECT_EQ(hidden("link_speed='16.0 GT/s PCIe' link_width='16'"), std::nullopt);
}

TEST(NcclXml, nvlinks_to_switches_are_summed) {
  const Graph graph = machine("nccl-two-cpus.xml");
  const int fabric = graph.find("nvswitch0").value();
  int links = 0;
  for (const Link& link : graph.links) {
    if (link.b != fabric) continue;
    ++links;
    EXPECT_EQ(link.count, 18);
    EXPECT_EQ(link.bandwidth_gbs, 450);
  }
  EXPECT_EQ(links, 2);
  EXPECT_EQ(path_class(graph, "gpu0", "gpu1"), PathClass::Nvl);
}

TEST(NcclXml, rccl_has_version_2_xgmi_and_nics_outside_pcie) {
  const Graph graph = machine("rccl-xgmi.xml");
  const auto xgmi = std::find_if(graph.links.begin(), graph.links.end(),
                                 [](const Link& link) { return link.kind == LinkKind::Xgmi; });
  ASSERT_NE(xgmi, graph.links.end());
  EXPECT_EQ(xgmi->count, 2);  // both ends list it; the third GPU is not in the file
  EXPECT_EQ(xgmi->bandwidth_gbs, 100);
  EXPECT_EQ(node(graph, "bond0").bus_id, "");
  EXPECT_EQ(node(graph, "bond0").network_gbs, 0.125);
  EXPECT_FALSE(node(graph, "bond0").fabric);
  EXPECT_EQ(path_class(graph, "gpu0", "bond0"), PathClass::Phb);
  EXPECT_EQ(path_class(graph, "gpu1", "bond0"), PathClass::Sys);
  EXPECT_TRUE(Locality(graph).numa_nodes_of(graph.find("gpu1").value()).empty());  // numaid -1
}

TEST(NcclXml, a_socket_that_is_numbered_is_no_fabric_and_no_port_is_faster_than_any) {
  test::RecordedTree folder;
  const auto survey_of = [&](std::string_view name, std::string_view guid, std::string_view speed) {
    folder.write("/topo.xml", fmt::format(R"(<system version="1"><cpu numaid="0" affinity="3" arch="x86_64"><nic>
        <net name="{}" dev="0" speed="{}" port="0" guid="{}" gdr="0"/></nic></cpu></system>)",
                                          name, speed, guid));
    return load_survey(folder.root() + "/topo.xml").value();
  };
  EXPECT_FALSE(node(survey_of("virbr0", "0x1", "10000").graph, "virbr0").fabric);
  const Survey fabric = survey_of("mlx5_0", "0x2a3e0003f49e5c7c", "200000");
  EXPECT_TRUE(node(fabric.graph, "mlx5_0").fabric);
  EXPECT_EQ(node(fabric.graph, "mlx5_0").network_gbs, 25.0);
  EXPECT_THAT(fabric.remarks, testing::IsEmpty());
  const Survey fast = survey_of("cxi0", "0x0", "200000000");
  EXPECT_EQ(node(fast.graph, "cxi0").network_gbs, std::nullopt);
  ASSERT_EQ(fast.remarks.size(), 1u);
  EXPECT_THAT(fast.remarks.front().evidence, HasSubstr("no port does 200000000 Mbit/s, which is said of cxi0"));
}

TEST(NcclXml, bus_ids_alone_tell_no_devices) {
  const Graph graph = machine("nccl-bus-ids-only.xml");
  EXPECT_EQ(graph.ids(NodeKind::Numa).size(), 1u);
  EXPECT_EQ(graph.nodes.size(), 2u);
}

TEST(NcclXml, what_is_cut_or_not_well_formed_is_refused_with_its_line) {
  EXPECT_THAT(refusal("<system version=\"1\">\n  <cpu numaid=\"0\">\n    <pci busid=\"0000:01"),
              StartsWith("topo.xml:3: "));
  EXPECT_THAT(refusal("<system version=\"1\">\n<cpu numaid=\"0\"></pci>\n</system>"), StartsWith("topo.xml:2: "));
  EXPECT_THAT(refusal("<system version=\"1\">"), HasSubstr("is not well-formed XML, or cut"));
}

TEST(NcclXml, an_attribute_that_stands_twice_is_refused_with_its_line) {
  EXPECT_EQ(refusal("<system version=\"1\">\n<cpu numaid=\"0\">\n<pci busid=\"0000:01:00.0\" class=\"0x030200\" "
                    "busid=\"0000:02:00.0\"/></cpu></system>"),
            "topo.xml:3: is not well-formed XML: <pci> has the attribute busid twice");
  EXPECT_EQ(refusal("<system version=\"1\" version=\"1\"><cpu/></system>"),
            "topo.xml:1: is not well-formed XML: <system> has the attribute version twice");
}

TEST(NcclXml, what_could_grow_or_hurt_is_refused) {
  EXPECT_THAT(refusal("<!DOCTYPE s [<!ENTITY a \"aa\"><!ENTITY b \"&a;&a;\">]>\n<system version=\"1\"><cpu/></system>"),
              HasSubstr("topo.xml:1: has a document type"));
  std::string deep = "<system version=\"1\">\n<cpu numaid=\"0\">";
  for (int i = 0; i < 100'000; ++i) deep += "<pci busid=\"0000:01:00.0\">";
  for (int i = 0; i < 100'000; ++i) deep += "</pci>";
  EXPECT_THAT(refusal(deep + "</cpu></system>"), HasSubstr("topo.xml:2: elements are nested more than 64 deep"));
  EXPECT_THAT(refusal("<system version=\"1\"><cpu/></system>" + std::string(std::size_t{8} << 20, ' ')),
              HasSubstr("is longer than 8388608 bytes"));
  EXPECT_THAT(refusal("<system version=\"1\">\n<!-- \xff -->\n</system>"), HasSubstr("topo.xml:2: is not UTF-8"));
  EXPECT_THAT(refusal(std::string_view("<system version=\"1\">\n\n\0</system>", 32)),
              HasSubstr("topo.xml:3: holds a zero byte"));
}

TEST(NcclXml, values_that_make_no_sense_are_refused_with_their_line) {
  const auto with = [](std::string_view cpu) {
    return refusal("<system version=\"1\">\n" + std::string(cpu) + "\n</system>");
  };
  EXPECT_THAT(refusal("<system version=\"3\"><cpu/></system>"), HasSubstr("version \"3\"; versions 1 and 2 are read"));
  EXPECT_THAT(with(""), HasSubstr("has no <cpu> element"));
  EXPECT_EQ(with("<cpu numaid=\"zero\"/>"), "topo.xml:2: numaid \"zero\" is no NUMA node");
  EXPECT_EQ(with("<cpu numaid=\"0\" affinity=\"f,g\"/>"), "topo.xml:2: affinity \"f,g\" is no CPU mask");
  EXPECT_THAT(with("<cpu numaid=\"0\" host_hash=\"1\"/>\n<cpu numaid=\"0\" host_hash=\"2\"/>"),
              HasSubstr("topo.xml:3: describes several hosts"));
  EXPECT_THAT(with("<cpu><pci busid=\"0000:01:00.0\"><gpu><nvlink target=\"\" count=\"-1\"/></gpu></pci></cpu>"),
              HasSubstr("count -1 is no number of links"));
}

}  // namespace
}  // namespace weft::topology
