// Storage in graphs: drives and adapters are there with their links, and change nothing of what GPUs and NICs are
// asked.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "tests/topology/support/recorded_tree.hpp"
#include "topology/cluster/likeness.hpp"
#include "topology/device_kinds.hpp"
#include "topology/diff/diff.hpp"
#include "topology/export/dot.hpp"
#include "topology/export/nccl_xml.hpp"
#include "topology/export/picture.hpp"
#include "topology/import/import.hpp"
#include "topology/locality.hpp"
#include "topology/storage.hpp"
#include "topology/survey.hpp"

namespace weft::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string device(std::string_view type, std::string_view bus_id, std::string_view pci_class,
                   std::string_view inside) {
  return fmt::format("<object type='{}' {} pci_busid='{}' pci_type='{}' pci_link_speed='7.877'>{}</object>", type,
                     type == "Bridge" ? "bridge_type='1-1' depth='1' bridge_pci='0000:[02-0f]'" : "", bus_id, pci_class,
                     inside);
}

// One GPU and one NIC below a switch, and as many drives: each below a port of that switch, and one more on a root port
// of its own.
std::string machine(int drives) {
  std::string below = device("Bridge", "0000:02:00.0", "0604 [10b5:8747] [10b5:8747] ca",
                             device("PCIDev", "0000:03:00.0", "0302 [10de:20b0] [10de:20b0] a1", "")) +
                      device("Bridge", "0000:02:01.0", "0604 [10b5:8747] [10b5:8747] ca",
                             device("PCIDev", "0000:04:00.0", "0207 [15b3:101b] [15b3:101b] 00",
                                    "<object type='OSDev' name='mlx5_0' osdev_type='3'/>"));
  const auto drive = [](int number, std::string_view bus_id) {
    return device("PCIDev", bus_id, "0108 [144d:a80a] [144d:a80a] 00",
                  fmt::format("<object type='OSDev' name='nvme{}n1' osdev_type='0'/>", number));
  };
  for (int i = 0; i < drives; ++i)
    below += device("Bridge", fmt::format("0000:02:{:02x}.0", i + 2), "0604 [10b5:8747] [10b5:8747] ca",
                    drive(i, fmt::format("0000:{:02x}:00.0", i + 5)));
  std::string ports = device("Bridge", "0000:00:01.0", "0604 [8086:2030] [8086:2030] 04",
                             device("Bridge", "0000:01:00.0", "0604 [10b5:8747] [10b5:8747] ca", below));
  if (drives > 0)
    ports += device("Bridge", "0000:00:02.0", "0604 [8086:2030] [8086:2030] 04", drive(drives, "0000:40:00.0"));
  return "<topology><object type='Machine' os_index='0' cpuset='0x3' complete_cpuset='0x3' nodeset='0x1'>"
         "<object type='NUMANode' os_index='0' cpuset='0x3' nodeset='0x1' local_memory='1073741824'/>"
         "<object type='Bridge' bridge_type='0-1' depth='0' bridge_pci='0000:[00-40]'>" +
         ports + "</object></object></topology>";
}

Survey survey(int drives) {
  Result<Survey> read = read_hwloc_xml("machine.xml", machine(drives));
  EXPECT_TRUE(read.has_value()) << (read ? "" : read.error().to_string());
  return read ? std::move(read).value() : Survey();
}

TEST(Storage, drives_are_nodes_with_names_and_links) {
  const Survey with = survey(2);
  const Graph& graph = with.graph;
  ASSERT_TRUE(graph.check().ok()) << graph.check().to_string();
  Locality locality(graph);
  ASSERT_EQ(locality.storage(0).size(), 3U);
  const Node& drive = locality.node(locality.storage(0).front());
  EXPECT_EQ(drive.name, "nvme0n1");
  EXPECT_EQ(drive.bus_id, "0000:05:00.0");
  EXPECT_EQ(drive.device, "144d:a80a");
  EXPECT_NEAR(*locality.pci_link_gbs(drive.id), 7.877, 1e-9);
  EXPECT_EQ(graph.best_path(locality.gpus(0).front(), drive.id).path_class, PathClass::Pix);
}

TEST(Storage, drives_are_no_gpus_and_no_nics) {
  const Survey with = survey(2);
  Locality locality(with.graph);
  EXPECT_EQ(locality.gpus(0).size(), 1U);
  EXPECT_EQ(locality.nics(0).size(), 1U);
  EXPECT_EQ(locality.nearest_nics(locality.gpus(0).front()), locality.nics(0));
  for (const DeviceFacts& facts : with.facts(0).devices) EXPECT_NE(facts.device, "144d:a80a");
}

TEST(Storage, what_is_before_it_keeps_its_number) {
  const Graph without = survey(0).graph;
  const Graph with = survey(3).graph;
  ASSERT_GT(with.nodes.size(), without.nodes.size());
  for (const Node& node : without.nodes) EXPECT_EQ(with.nodes[static_cast<std::size_t>(node.id)], node);
}

TEST(Storage, only_bridges_of_nothing_else_are_storage_parts) {
  const Graph graph = survey(2).graph;
  const StorageParts parts(graph);
  const auto is_part = [&](std::string_view name) { return parts.contains(*graph.find(name)); };
  EXPECT_TRUE(is_part("nvme0n1"));
  EXPECT_TRUE(is_part("port-0000:02:02.0"));
  EXPECT_TRUE(is_part("port-0000:00:02.0"));
  EXPECT_FALSE(is_part("switch-0000:01:00.0"));
  EXPECT_FALSE(is_part("port-0000:02:01.0"));
  EXPECT_FALSE(is_part("gpu0"));
  EXPECT_THAT(parts.below(*graph.find("switch-0000:01:00.0")),
              ElementsAre(*graph.find("nvme0n1"), *graph.find("nvme1n1")));
  EXPECT_THAT(parts.below(*graph.find("pci0000:00")), ElementsAre(*graph.find("nvme2n1")));
}

TEST(Storage, like_machines_are_alike_whatever_their_drives) {
  const Survey none = survey(0);
  const Survey some = survey(2);
  EXPECT_EQ(fingerprint(none.graph), fingerprint(some.graph));
  EXPECT_EQ(cluster::likeness_of(none), cluster::likeness_of(some));
  EXPECT_THAT(diff_surveys(survey(3), some, Relation::Alike).changes, IsEmpty());
}

TEST(Storage, a_lost_drive_of_one_machine_is_told) {
  const SurveyDiff diff = diff_surveys(survey(3), survey(2), Relation::Same);
  ASSERT_EQ(diff.changes.size(), 1U);
  EXPECT_EQ(diff.changes.front().kind, ChangeKind::Lost);
  EXPECT_THAT(diff.changes.front().before, HasSubstr("144d:a80a"));
  EXPECT_THAT(diff_surveys(survey(2), survey(2), Relation::Same).changes, IsEmpty());
  EXPECT_THAT(diff_surveys(survey(2), survey(0), Relation::Same).changes, IsEmpty()) << "a source that tells no drives";
}

TEST(Storage, json_holds_it_and_nccl_does_not) {
  const Survey with = survey(2);
  const Result<Graph> read = from_json(to_json(with.graph));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, with.graph);
  const Result<std::string> nccl = to_nccl_xml(with, {});
  ASSERT_TRUE(nccl.has_value()) << nccl.error().to_string();
  EXPECT_EQ(*nccl, *to_nccl_xml(survey(0), {}));
}

TEST(Storage, pictures_show_all_drives_of_a_place_as_one) {
  const Graph graph = survey(16).graph;
  const std::string dot = to_dot(graph);
  EXPECT_THAT(dot, HasSubstr("16 storage devices: nvme0n1, nvme1n1, nvme2n1, nvme3n1 and 12 more"));
  EXPECT_THAT(dot, Not(HasSubstr("0000:05:00.0")));
  Locality locality(graph);
  const Picture picture = draw_host(locality, locality.machine(0), {});
  int boxes = 0;
  for (const PictureBox& box : picture.boxes) boxes += box.look == "storage" ? 1 : 0;
  EXPECT_EQ(boxes, 2);  // those below the switch, and the one on its own port
}

TEST(Storage, a_recorded_tree_shows_drives_with_their_links) {
  test::RecordedTree tree;
  tree.add_cpus(1, 2);
  tree.add_pci(
      {"0000:00:01.0", {}, "0x060400", "0x8086", "0x2030", "0-1", 1, 1, {{"max_link_speed", "8.0 GT/s PCIe"}}});
  tree.add_pci({"0000:01:00.0",
                {"0000:00:01.0"},
                "0x010802",
                "0x144d",
                "0xa80a",
                "0-1",
                -1,
                -1,
                {{"current_link_speed", "8.0 GT/s PCIe"},
                 {"current_link_width", "4"},
                 {"max_link_speed", "16.0 GT/s PCIe"},
                 {"max_link_width", "4"}}});
  const Result<Graph> graph = probe({tree.root()});
  ASSERT_TRUE(graph.has_value()) << graph.error().to_string();
  const std::optional<int> drive = graph->find("storage0");
  ASSERT_TRUE(drive.has_value());
  const Node& node = graph->nodes[static_cast<std::size_t>(*drive)];
  EXPECT_EQ(node.kind, NodeKind::Storage);
  EXPECT_EQ(node.pci, (PciLink{8, 4, 16, 4}));
  EXPECT_NEAR(graph->links.back().bandwidth_gbs, 3.938, 0.001);
}

TEST(Storage, chipsets_and_hypervisors_disks_are_none) {
  EXPECT_EQ(pci_role(0x0108, "144d:a80a"), PciRole::Storage);
  EXPECT_EQ(pci_role(0x0107, "1000:00e6"), PciRole::Storage);
  EXPECT_EQ(pci_role(0x0104, "1000:10e2"), PciRole::Storage);
  EXPECT_EQ(pci_role(0x0c04, "1077:2261"), PciRole::Storage);
  EXPECT_EQ(pci_role(0x0106, "8086:a182"), PciRole::Other);
  EXPECT_EQ(pci_role(0x0101, "8086:3a20"), PciRole::Other);
  EXPECT_EQ(pci_role(0x0100, "1af4:1001"), PciRole::Other);
  EXPECT_EQ(pci_role(0x0108, "1d0f:8061"), PciRole::Other);
  EXPECT_EQ(pci_role(0x0104, "8086:28c0"), PciRole::Other);
}

}  // namespace
}  // namespace weft::topology
