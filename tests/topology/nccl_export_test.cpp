// Machines as NCCL topology XML: what NCCL's loader takes, and the same machine when read back.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/topology/support/corpus.hpp"
#include "tests/topology/support/nccl_loader.hpp"
#include "topology/export/nccl_document.hpp"
#include "topology/export/nccl_xml.hpp"
#include "topology/import/import.hpp"
#include "topology/locality.hpp"
#include "topology/path_finder.hpp"

namespace weft::topology {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kData = "tests/topology/data/";

Survey survey_of_file(const std::string& path) {
  Result<Survey> survey = load_survey(path);
  EXPECT_TRUE(survey) << survey.status().to_string();
  return survey ? std::move(survey).value() : Survey();
}

Survey survey_of_model(std::string_view line) {
  Survey survey;
  survey.graph = model(line).value();
  survey.source = "model";
  return survey;
}

std::string text_of(const Survey& survey, std::optional<int> version = {}) {
  const Result<std::string> text = to_nccl_xml(survey, version);
  EXPECT_TRUE(text) << text.status().to_string();
  if (!text) return {};
  EXPECT_EQ(test::nccl_complaint(*text), "") << *text;
  return *text;
}

Survey read_back(const std::string& text) {
  Result<Survey> survey = read_nccl_xml("again", text);
  EXPECT_TRUE(survey) << survey.status().to_string() << "\n" << text;
  return survey ? std::move(survey).value() : Survey();
}

std::string refusal(const Survey& survey, std::optional<int> version = {}) {
  const Result<std::string> text = to_nccl_xml(survey, version);
  return text ? "accepted" : std::string(text.error().message());
}

void expect_round_trip(const std::string& path) {
  SCOPED_TRACE(path);
  const Survey first = survey_of_file(path);
  const Survey second = read_back(text_of(first));
  EXPECT_EQ(first.graph, second.graph);
  EXPECT_EQ(first.hosts, second.hosts);
  EXPECT_EQ(first.nccl_version, second.nccl_version);
}

TEST(NcclExport, a_file_of_nccl_comes_back_equal) {
  for (const char* name : {"nccl-two-cpus.xml", "nccl-bus-ids-only.xml", "rccl-xgmi.xml"})
    expect_round_trip(std::string(kData) + name);
}

TEST(NcclExport, every_recorded_file_of_nccl_comes_back_equal) {
  const std::vector<std::string> files = test::corpus_files("nccl", ".xml");
  if (files.empty()) GTEST_SKIP() << "the recorded machines are not here; WEFT_CORPUS names their folder";
  for (const std::string& file : files) expect_round_trip(file);
}

// The bus id without its function; a device without one is a card of its own.
std::string card_of(const Graph& graph, int id) {
  const std::string& bus_id = graph.nodes[static_cast<std::size_t>(id)].bus_id;
  return bus_id.empty() ? fmt::format("{}", id) : bus_id.substr(0, bus_id.find('.'));
}

// How near two devices are as far as NCCL can say it: host bridges of one NUMA node are one to it, and that functions
// of one card share a link only their bus ids tell.
std::vector<std::string> classes(const Graph& graph, bool with_device_links) {
  Graph seen = graph;
  if (!with_device_links)
    std::erase_if(seen.links, [](const Link& link) {
      return link.kind == LinkKind::NvLink || link.kind == LinkKind::Xgmi || link.kind == LinkKind::C2c;
    });
  PathFinder finder(seen);
  std::vector<int> devices = seen.ids(NodeKind::Gpu);
  for (int nic : seen.ids(NodeKind::Nic)) devices.push_back(nic);
  std::vector<std::string> words;
  for (int from : devices) {
    for (const Path& path : finder.best_paths(from, devices)) {
      const bool one_card = card_of(seen, path.from) == card_of(seen, path.to);
      const bool near = path.path_class == PathClass::Node || (one_card && path.path_class == PathClass::Pix);
      words.emplace_back(near ? "PHB" : to_string(path.path_class));
    }
  }
  return words;
}

// By the ends' names; a link to a CPU hangs on its package to hwloc, on a NUMA node to NCCL.
std::vector<std::string> device_links(const Graph& graph) {
  const auto end = [&](int id) {
    const Node& node = graph.nodes[static_cast<std::size_t>(id)];
    return node.kind == NodeKind::Package || node.kind == NodeKind::Numa ? "cpu" : node.name;
  };
  std::vector<std::string> links;
  for (const Link& link : graph.links) {
    if (link.kind != LinkKind::NvLink && link.kind != LinkKind::Xgmi) continue;
    const std::string a = end(link.a);
    const std::string b = end(link.b);
    links.push_back(fmt::format("{} {} {} x{}", std::min(a, b), std::max(a, b), to_string(link.kind),
                                std::max(link.count, 1)));  // NCCL needs a number
  }
  std::sort(links.begin(), links.end());
  return links;
}

std::vector<std::string> bus_ids(const Graph& graph, NodeKind kind) {
  std::vector<std::string> ids;
  for (int id : graph.ids(kind)) ids.push_back(graph.nodes[static_cast<std::size_t>(id)].bus_id);
  return ids;
}

void expect_kept(const Survey& survey) {
  const Graph again = read_back(text_of(survey)).graph;
  EXPECT_EQ(again.ids(NodeKind::Gpu).size(), survey.graph.ids(NodeKind::Gpu).size());
  EXPECT_EQ(again.ids(NodeKind::Nic).size(), survey.graph.ids(NodeKind::Nic).size());
  EXPECT_EQ(classes(again, false), classes(survey.graph, false));
  EXPECT_EQ(classes(again, true), classes(survey.graph, true));
  EXPECT_EQ(device_links(again), device_links(survey.graph));
  if (survey.source == "model") return;
  EXPECT_EQ(bus_ids(again, NodeKind::Gpu), bus_ids(survey.graph, NodeKind::Gpu));
  EXPECT_EQ(bus_ids(again, NodeKind::Nic), bus_ids(survey.graph, NodeKind::Nic));
}

TEST(NcclExport, models_keep_devices_classes_and_links) {
  for (const char* line : {"dgx-h100", "dgx-a100", "p5.48xlarge", "pcie-8gpu", "packages:2 numa:8 gpu:8 nic:2 ndr"}) {
    SCOPED_TRACE(line);
    expect_kept(survey_of_model(line));
  }
}

TEST(NcclExport, hwloc_xml_keeps_devices_classes_and_links) {
  for (const char* name : {"2xp100-one-plx-switch-cx5.xml", "tioga-8gcd-mi250x-4xslingshot.xml"}) {
    SCOPED_TRACE(name);
    expect_kept(survey_of_file(std::string(kData) + name));
  }
}

TEST(NcclExport, every_recorded_file_of_hwloc_keeps_devices_classes_and_links) {
  const std::vector<std::string> files = test::corpus_files("hwloc", ".xml");
  if (files.empty()) GTEST_SKIP() << "the recorded machines are not here; WEFT_CORPUS names their folder";
  int kept = 0;
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const Result<Survey> survey = load_survey(file);
    if (!survey) continue;  // what no reader takes
    expect_kept(*survey);
    ++kept;
  }
  EXPECT_GT(kept, 0);
}

TEST(NcclExport, what_is_not_known_is_left_out) {
  const std::string text = text_of(survey_of_file(std::string(kData) + "nccl-bus-ids-only.xml"));
  for (const char* attribute : {"affinity", "arch", "vendor", "link_speed", "sm=", "guid"})
    EXPECT_THAT(text, Not(HasSubstr(attribute))) << attribute;
  Survey survey = survey_of_model("packages:1 gpu:1");
  survey.graph.nodes[static_cast<std::size_t>(*survey.graph.find("numa0"))].os_index.reset();
  EXPECT_THAT(text_of(survey), HasSubstr("<cpu numaid=\"-1\""));
}

TEST(NcclExport, a_hidden_link_stays_one) {
  Survey survey = read_back(
      "<system version='1'><cpu numaid='0' affinity='f' arch='x86_64'><pci busid='0000:01:00.0' class='0x030200' "
      "link_speed='' link_width=''><gpu dev='0' sm='80'/></pci></cpu></system>");
  EXPECT_THAT(text_of(survey), HasSubstr("link_speed=\"\" link_width=\"\""));
  EXPECT_EQ(read_back(text_of(survey)).hosts, survey.hosts);
  survey.hosts[0].devices.front().link_hidden.reset();
  EXPECT_THAT(text_of(survey), Not(HasSubstr("link_"))) << "what is left out NCCL would look for";
}

TEST(NcclExport, links_are_the_best_of_both_ends_and_a_rate_alone_is_stated_as_lanes) {
  const std::string text = text_of(survey_of_file(std::string(kData) + "2xp100-one-plx-switch-cx5.xml"));
  EXPECT_THAT(text, HasSubstr("link_speed=\"8.0 GT/s PCIe\" link_width=\"16\""));
  const Survey again = read_back(text);
  const Survey first = survey_of_file(std::string(kData) + "2xp100-one-plx-switch-cx5.xml");
  for (int gpu : first.graph.ids(NodeKind::Gpu)) {
    const std::string& name = first.graph.nodes[static_cast<std::size_t>(gpu)].name;
    const double rate = Locality(first.graph).pci_link_gbs(gpu).value();
    EXPECT_NEAR(Locality(again.graph).pci_link_gbs(*again.graph.find(name)).value(), rate, rate / 100);
  }
}

TEST(NcclExport, the_version_is_that_of_the_source_or_as_asked) {
  EXPECT_THAT(text_of(survey_of_model("dgx-h100")), HasSubstr("<system version=\"1\">"));
  const Survey rccl = survey_of_file(std::string(kData) + "rccl-xgmi.xml");
  EXPECT_THAT(text_of(rccl), HasSubstr("<system version=\"2\">"));
  EXPECT_THAT(text_of(rccl, 1), HasSubstr("<system version=\"1\">"));
  EXPECT_THAT(refusal(rccl, 3), HasSubstr("version 3 does not exist"));
}

TEST(NcclExport, devices_without_bus_ids_and_clusters_are_refused) {
  EXPECT_THAT(refusal(survey_of_file(std::string(kData) + "nvidia-smi-3gpu-2nic.txt")),
              HasSubstr("gpu0 has no bus id, by which NCCL tells devices apart; the text of nvidia-smi topo -m "
                        "does not state it"));
  EXPECT_THAT(refusal(survey_of_model("dgx-h100 hosts:2")), HasSubstr("describes one host, this is 2"));
}

Survey machine_with_nics(int fabric, int ethernet) {
  Survey survey = survey_of_model("packages:1 gpu:2");
  survey.source = "hwloc XML";
  Graph& graph = survey.graph;
  int bus = 1;
  for (Node& node : graph.nodes)
    if (node.kind == NodeKind::Gpu || node.kind == NodeKind::PciSwitch)
      node.bus_id = fmt::format("0000:{:02x}:00.0", bus++);
  for (int i = 0; i < fabric + ethernet; ++i) {
    Node nic;
    nic.kind = NodeKind::Nic;
    nic.parent = graph.ids(NodeKind::PciBridge).front();
    nic.name = fmt::format("nic{}", i);
    nic.bus_id = fmt::format("0001:{:02x}:00.0", i);
    nic.fabric = i < fabric;
    const int parent = nic.parent;
    graph.connect(parent, graph.add(nic), LinkKind::Pci, 8, 0.25, "assumed");
  }
  EXPECT_TRUE(graph.check().ok());
  return survey;
}

TEST(NcclExport, nics_without_fabric_give_way_where_the_file_would_be_too_long) {
  const std::string text = text_of(machine_with_nics(8, 120));
  EXPECT_THAT(text, HasSubstr("without NICs that no fabric library drives, as NCCL reads at most 256 elements"));
  EXPECT_EQ(read_back(text).graph.ids(NodeKind::Nic).size(), 8u);
  EXPECT_EQ(read_back(text_of(machine_with_nics(8, 8))).graph.ids(NodeKind::Nic).size(), 16u);
  EXPECT_THAT(refusal(machine_with_nics(120, 0)), HasSubstr("elements, NCCL reads at most 256; export a machine"));
}

TEST(NcclExport, what_the_loader_cannot_hold_is_refused_by_name) {
  const auto refused = [](const NcclElement& element) {
    const Result<std::string> text = nccl_text({"system", {{"version", "1"}}, {element}}, "");
    return text ? "accepted" : std::string(text.error().message());
  };
  EXPECT_EQ(refused({"pci", {{"busid", "0000:01:00.0"}}, {}}), "accepted");
  EXPECT_THAT(refused({"net", {{"name", "a\"b"}}, {}}), HasSubstr("has a name with a quote"));
  EXPECT_THAT(refused({"net", {{"name", "a&b"}}, {}}), HasSubstr("ampersand"));
  EXPECT_THAT(refused({"net", {{"name", std::string(256, 'x')}}, {}}), HasSubstr("has a name of 256 characters"));
  EXPECT_EQ(refused({"net", {{"name", std::string(255, 'x')}}, {}}), "accepted");
  NcclElement wide{"pci", {}, {}};
  for (int i = 0; i < 17; ++i) wide.set(fmt::format("a{}", i), "1");
  EXPECT_THAT(refused(wide), HasSubstr("<pci a0=\"1\"> has 17 attributes; NCCL reads at most 16"));
}

TEST(NcclExport, more_cpus_than_a_mask_can_name_leave_it_out) {
  Survey survey = survey_of_model("packages:1 gpu:1");
  Node& numa = survey.graph.nodes[static_cast<std::size_t>(*survey.graph.find("numa0"))];
  numa.cpus = "0-895";
  EXPECT_THAT(text_of(survey), HasSubstr("affinity=\"ffffffff,ffffffff"));
  numa.cpus = "0-896";
  EXPECT_THAT(text_of(survey), Not(HasSubstr("affinity")));
}

}  // namespace
}  // namespace weft::topology
