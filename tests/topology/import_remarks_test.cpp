// What importers remark on: where a text is cut, and where it contradicts itself. A sound text gives no remark.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "topology/import/import.hpp"

namespace weft::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// Each remark as "C place: evidence", C for contradictions and I for what is incomplete.
std::vector<std::string> texts_of(const Result<Survey>& survey) {
  EXPECT_TRUE(survey) << survey.status().to_string();
  std::vector<std::string> texts;
  if (survey)
    for (const Remark& remark : survey->remarks)
      texts.push_back((remark.kind == RemarkKind::Contradiction ? "C " : "I ") + remark.subject + ": " +
                      remark.evidence);
  return texts;
}

std::vector<std::string> of_nvidia(std::string_view text) {
  const std::string path = "/some/where/topo.txt";
  return texts_of(read_nvidia_smi(path, text));
}

std::vector<std::string> of_rocm(std::string_view text) {
  const std::string path = "rocm.txt";
  return texts_of(read_rocm_smi(path, text));
}

std::vector<std::string> of_nccl(std::string_view text) {
  const std::string path = "topo.xml";
  return texts_of(read_nccl_xml(path, text));
}

std::vector<std::string> of_hwloc(std::string_view text) {
  const std::string path = "machine.xml";
  return texts_of(read_hwloc_xml(path, text));
}

const std::string kHeader = "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\n";
const std::string kNicRow = "NIC0\tPIX\tSYS\t X \n";
const std::string kLegend = "NIC Legend:\n\n  NIC0: mlx5_0\n";

TEST(NvidiaSmiRemarks, a_whole_text_gives_none) {
  EXPECT_THAT(of_nvidia(kHeader + "GPU0\t X \tSYS\tPIX\t0-3\t0\nGPU1\tSYS\t X \tSYS\t4-7\t1\n" + kNicRow + kLegend),
              IsEmpty());
}

TEST(NvidiaSmiRemarks, what_is_cut_is_told_with_its_line) {
  EXPECT_THAT(of_nvidia(kHeader + "GPU0\t X \tSYS\tPIX\t0-3\t0\n"),
              UnorderedElementsAre("I topo.txt:2: the rows of GPU1 are missing: the text is cut",
                                   "I topo.txt:2: the rows of NIC0 are missing: how they reach each other is unknown",
                                   "I topo.txt: the NIC legend does not name NIC0",
                                   "I topo.txt:2: the text is cut behind GPU0: its CPUs may be, too"));
  EXPECT_THAT(of_nvidia(kHeader + "GPU0\t X \tSYS\tPIX\t0-3\t0\nGPU1\tSYS\t X \n" + kNicRow + kLegend),
              ElementsAre("I topo.txt:3: the row of GPU1 lacks 1 of 3 cells"));
  EXPECT_THAT(of_nvidia("GPU0\t X \tSYS\nGPU1\tSYS\t X \n"),
              ElementsAre("I topo.txt:1: the header line is missing: columns are known by the X of their rows only"));
  EXPECT_THAT(of_nvidia("\tGPU0\tGPU1\nGPU0\tX\tOK\nGPU1\tOK\tX\n"),
              ElementsAre(HasSubstr("not how near they are; give the text of nvidia-smi topo -m")));
}

TEST(NvidiaSmiRemarks, a_cut_cpu_list_is_completed_where_one_list_alone_begins_so) {
  const std::string head = "\tGPU0\tGPU1\tGPU2\tCPU Affinity\nGPU0\tX\tSYS\tSYS\t0-3,8-11\n";
  const std::string last = "GPU2\tSYS\tNODE\tX\t4-7,\n";
  const std::string path = "t";
  const Result<Survey> one = read_nvidia_smi(path, head + "GPU1\tSYS\tX\tNODE\t4-7,12-15\n" + last);
  EXPECT_THAT(texts_of(one), ElementsAre(HasSubstr("\"4-7,\", is cut; taken as 4-7,12-15")));
  EXPECT_EQ(one->graph.nodes[static_cast<std::size_t>(*one->graph.find("gpu2"))].cpus, "4-7,12-15");
  const Result<Survey> none = read_nvidia_smi(path, head + "GPU1\tSYS\tX\tNODE\t5-7,12-15\n" + last);
  EXPECT_THAT(texts_of(none), ElementsAre(testing::EndsWith("\"4-7,\", is cut")));
  EXPECT_EQ(none->graph.nodes[static_cast<std::size_t>(*none->graph.find("gpu2"))].cpus, "");
}

TEST(NvidiaSmiRemarks, contradictions_are_told_with_both_sides) {
  EXPECT_THAT(of_nvidia("\tGPU0\tGPU1\nGPU0\tX\tNV4\nGPU1\tNV3\tX\n"),
              ElementsAre("C topo.txt:3: GPU1 to GPU0 is NV3, but GPU0 to GPU1 is NV4"));
  const std::string head = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n";
  EXPECT_THAT(of_nvidia(head + "GPU0\tX\tNODE\t0-3\t0\nGPU1\tNODE\tX\t4-7\t0\n"),
              ElementsAre("C topo.txt: gpu0 and gpu1 are on NUMA node 0, but near different CPUs, 0-3 and 4-7"));
  EXPECT_THAT(of_nvidia(head + "GPU0\tX\tSYS\t0-3\t0\nGPU1\tSYS\tX\t0-3\t1\n"),
              ElementsAre("C topo.txt: gpu0 and gpu1 are near the same CPUs, 0-3, but on the NUMA nodes 0 and 1"));
  EXPECT_THAT(of_nvidia(head + "GPU0\tX\tPIX\t0-3\t0\nGPU1\tPIX\tX\t4-7\t1\n"),
              ElementsAre("C topo.txt: gpu0 and gpu1 are PIX, but on the NUMA nodes 0 and 1"));
}

// As a GB200 tray prints it under a launcher that hides the CPUs of the second socket.
TEST(NvidiaSmiRemarks, a_nic_is_near_the_gpus_of_one_numa_node) {
  const std::string head = "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n";
  const std::string rows = "GPU0\t X \tNV18\tNODE\tNODE\t0-35\t0\t\tN/A\nGPU1\tNV18\t X \tNODE\tSYS\t\t1\t\tN/A\n";
  const std::string nics = "NIC0\tNODE\tNODE\t X \tNODE\nNIC1\tNODE\tSYS\tNODE\t X \n";
  EXPECT_THAT(
      of_nvidia(head + rows + nics + "NIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n"),
      ElementsAre("C topo.txt: mlx5_0 is nearer than SYS to gpu0 and gpu1, which are on the NUMA nodes 0 and 1"));
}

TEST(NvidiaSmiRemarks, there_are_never_more_than_a_reader_reads) {
  std::string text;
  constexpr int kGpus = 40;
  for (int i = 0; i < kGpus; ++i) text += "\tGPU" + std::to_string(i);
  for (int row = 0; row < kGpus; ++row) {
    text += "\nGPU" + std::to_string(row);
    for (int i = 0; i < kGpus; ++i) text += i == row ? "\tX" : i < row ? "\tPIX" : "\tSYS";
  }
  const std::vector<std::string> remarks = of_nvidia(text);
  EXPECT_EQ(remarks.size(), 64u);
  EXPECT_THAT(remarks.back(), HasSubstr("and 717 remarks more"));
}

TEST(RocmSmiRemarks, gaps_and_contradictions_are_told) {
  const std::string types = "== Link Type between two GPUs ==\n GPU0 GPU1\nGPU0 0 XGMI\nGPU1 XGMI 0\n";
  const std::string numa = "GPU[0]\t: (Topology) Numa Node: 0\nGPU[1]\t: (Topology) Numa Node: 1\n";
  EXPECT_THAT(of_rocm(types + numa), IsEmpty());
  EXPECT_THAT(of_rocm(types), ElementsAre("I rocm.txt: the NUMA node is told of 0 of 2 GPUs"));
  EXPECT_THAT(of_rocm("== Link Type between two GPUs ==\n GPU0 GPU1\nGPU0 0 XGMI\nGPU1 PCIE 0\n" + numa),
              ElementsAre("C rocm.txt:4: GPU1 to GPU0 is PCIE, but back it is XGMI"));
  EXPECT_THAT(of_rocm("== Link Type between two GPUs ==\n GPU0 GPU1\nGPU0 0\n" + numa),
              ElementsAre("I rocm.txt: the type of the link is told of 0 of 1 pairs of GPUs"));
  EXPECT_THAT(of_rocm(types + numa + "GPU[1]\t: (Topology) Numa Node: 0\n"),
              ElementsAre("C rocm.txt:7: GPU1 is on NUMA node 0, but was on 1 before"));
}

TEST(NcclRemarks, gaps_and_contradictions_are_told) {
  const auto gpu = [](std::string_view bus, std::string_view target, int count) {
    return "<pci busid='0000:0" + std::string(bus) + ":00.0' class='0x030200'><gpu dev='0'><nvlink target='0000:0" +
           std::string(target) + ":00.0' count='" + std::to_string(count) + "' tclass='0x030200'/></gpu></pci>\n";
  };
  const auto system = [](const std::string& content) {
    return "<system version='1'><cpu numaid='0' affinity='f'>\n" + content + "</cpu></system>";
  };
  EXPECT_THAT(of_nccl(system(gpu("1", "2", 4) + gpu("2", "1", 4))), IsEmpty());
  EXPECT_THAT(of_nccl(system(gpu("1", "2", 4) + gpu("2", "1", 3))),
              ElementsAre("C topo.xml:2: gpu0 has 4 NVLink to gpu1, which has 3 back"));
  EXPECT_THAT(of_nccl(system(gpu("1", "2", 4) + gpu("2", "1", 4) + gpu("2", "1", 4))),
              testing::Contains("C topo.xml:4: 0000:02:00.0 is there twice, first on line 3"));
  EXPECT_THAT(of_nccl(system("<pci busid='0000:01:00.0'/>")), ElementsAre(HasSubstr("with a bus id and no class")));
  EXPECT_THAT(of_nccl("<system version='1'><cpu numaid='0' affinity='f'/><cpu numaid='1' affinity='f'/></system>"),
              ElementsAre("C topo.xml: the NUMA nodes 0, 1 all have the CPUs 0-3"));
}

TEST(HwlocRemarks, contradictions_are_told) {
  const auto machine = [](std::string_view second_package, std::string_view second_bus, std::string_view values) {
    return "<topology version='2.0'><object type='Machine' cpuset='0xf' nodeset='0x1'>"
           "<object type='NUMANode' os_index='0' cpuset='0xf' nodeset='0x1'/>"
           "<object type='Package' os_index='0' cpuset='0x3'/><object type='Package' os_index='1' cpuset='" +
           std::string(second_package) +
           "'/><object type='PCIDev' gp_index='5' pci_busid='0000:01:00.0' pci_type='0302 [10de:2330]'/>"
           "<object type='PCIDev' gp_index='6' pci_busid='" +
           std::string(second_bus) +
           "' pci_type='0302 [10de:2330]'/></object>"
           "<distances2 type='PCIDev' nbobjs='2' kind='9' name='NVLinkBandwidth' indexing='gp'>"
           "<indexes length='1'>5 6</indexes><u64values length='1'>" +
           std::string(values) + "</u64values></distances2></topology>";
  };
  EXPECT_THAT(of_hwloc(machine("0xc", "0000:02:00.0", "0 25000 25000 0")), IsEmpty());
  EXPECT_THAT(
      of_hwloc(machine("0x6", "0000:01:00.0", "0 25000 50000 0")),
      ElementsAre("C machine.xml: 2 devices have the bus id 0000:01:00.0",
                  "C machine.xml: the packages 0 and 1 both have the CPUs 1",
                  "C machine.xml: NVLinkBandwidth: 0000:01:00.0 to 0000:01:00.0 is 25000 MB/s, back it is 50000"));
}

TEST(HwlocFacts, what_the_graph_has_no_place_for_is_among_the_facts) {
  const std::string path = "machine.xml";
  const Result<Survey> survey = read_hwloc_xml(
      path,
      "<topology version='2.0'><object type='Machine' cpuset='0xf' allowed_cpuset='0x3' nodeset='0x1'>"
      "<info name='HostName' value='node7'/><info name='OSRelease' value='6.1.0'/>"
      "<info name='LinuxCgroup' value='/kubepods/pod1'/><info name='DMISysVendor' value='Maker'/>"
      "<info name='CPUFamilyNumber' value='6'/><info name='Architecture' value='aarch64'/>"
      "<object type='NUMANode' os_index='0' cpuset='0xf' nodeset='0x1'/>"
      "<object type='PCIDev' pci_busid='0000:01:00.0' pci_type='0302 [10de:2330]'>"
      "<object type='OSDev' name='nvml0' osdev_type='1'><info name='NVIDIAUUID' value='GPU-1'/>"
      "<info name='NVIDIASerial' value='17'/></object></object>"
      "<object type='PCIDev' pci_busid='0000:02:00.0' pci_type='0207 [15b3:1021]'>"
      "<object type='OSDev' name='ib0' osdev_type='2'><info name='Address' value='02:00:00:00:00:01'/></object>"
      "<object type='OSDev' name='mlx5_0' osdev_type='3'><info name='NodeGUID' value='0002:0000:0000:0001'/>"
      "<info name='SysImageGUID' value='0002:0000:0000:0000'/><info name='Port1State' value='4'/>"
      "<info name='Port1LID' value='0x1f'/><info name='Port1GID0' value='fe80::1'/>"
      "<info name='Port2State' value='1'/></object></object></object></topology>");
  ASSERT_TRUE(survey) << survey.status().to_string();
  const HostFacts& facts = survey->facts(0);
  EXPECT_EQ(facts.hostname, "node7");
  EXPECT_EQ(facts.kernel.version, "6.1.0");
  EXPECT_EQ(facts.platform.vendor, "Maker");
  EXPECT_EQ(facts.platform.cpu_family, 6);
  EXPECT_EQ(facts.platform.cpu_architecture, "arm64");
  EXPECT_EQ(facts.platform.product, std::nullopt);
  EXPECT_EQ(facts.container.kind, "kubernetes");
  EXPECT_EQ(facts.container.cgroup_cpus, "0-1");
  ASSERT_NE(facts.device("gpu0"), nullptr);
  EXPECT_EQ(facts.device("gpu0")->uuid, "GPU-1");
  EXPECT_EQ(facts.device("gpu0")->serial, "17");
  const DeviceFacts* nic = facts.device("mlx5_0");
  ASSERT_NE(nic, nullptr);
  EXPECT_EQ(nic->bus_id, "0000:02:00.0");
  EXPECT_EQ(nic->guid, "0002:0000:0000:0001");
  EXPECT_EQ(nic->system_image_guid, "0002:0000:0000:0000");
  EXPECT_EQ(nic->mac, "02:00:00:00:00:01");
  ASSERT_EQ(nic->ports.size(), 2u);
  EXPECT_EQ(nic->ports[0].state, "ACTIVE");
  EXPECT_EQ(nic->ports[0].lid, 0x1f);
  EXPECT_EQ(nic->ports[0].gids, (std::vector<GidFacts>{{0, "fe80::1", {}, {}}}));
  EXPECT_EQ(nic->ports[1].state, "DOWN");
  ASSERT_NE(facts.interface("ib0"), nullptr);
  EXPECT_EQ(facts.interface("ib0")->bus_id, "0000:02:00.0");
}

const std::string kXml = "<?xml version=\"1.0\"?>\n<topology version=\"2.0\"></topology>\n";

TEST(GluedXml, behind_a_table_is_told_with_its_line) {
  const std::string table = kHeader + "GPU0\t X \tSYS\tPIX\t0-3\t0\nGPU1\tSYS\t X \tSYS\t4-7\t1\n" + kNicRow + kLegend;
  EXPECT_THAT(of_nvidia(table + kXml),
              ElementsAre("I topo.txt:8: XML begins here, which is not read: the text before it "
                          "is; give each in a file of its own"));
  EXPECT_THAT(of_nvidia(table + "<system version=\"1\">"), ElementsAre(HasSubstr("topo.txt:8: XML begins here")));
  EXPECT_THAT(of_nvidia(table + "system 1 <none>\n"), IsEmpty());
  const std::string rocm =
      "=== Link Type between two GPUs ===\n       GPU0  GPU1\nGPU0   0     XGMI\nGPU1   XGMI  0\n=== Numa Nodes ===\n"
      "GPU[0] : (Topology) Numa Node: 0\nGPU[1] : (Topology) Numa Node: 0\n";
  EXPECT_THAT(of_rocm(rocm), IsEmpty());
  EXPECT_THAT(of_rocm(rocm + kXml), ElementsAre(HasSubstr("rocm.txt:8: XML begins here")));
}

TEST(GluedText, beside_xml_is_told_with_its_line) {
  const std::string nccl = "<system version='1'><cpu numaid='0' affinity='f'/>\n</system>\n";
  EXPECT_THAT(of_nccl(nccl + "<!-- a comment -->\n\n"), IsEmpty());
  EXPECT_THAT(of_nccl("\xef\xbb\xbf" + nccl), IsEmpty());
  EXPECT_THAT(
      of_nccl(nccl + "\n" + kHeader),
      ElementsAre("I topo.xml:4: what begins here is no part of the XML and is not read; give each in a file of its "
                  "own"));
  const std::string hwloc =
      "<?xml version='1.0'?>\n<topology version='2.0'><object type='Machine' os_index='0' cpuset='0x1'/></topology>\n";
  EXPECT_THAT(of_hwloc(hwloc), IsEmpty());
  EXPECT_THAT(of_hwloc(hwloc + "root@node7:~# "), ElementsAre(HasSubstr("machine.xml:3: what begins here")));
}

std::vector<std::string> of_nic(const std::string& pci, const std::string& net) {
  return of_nccl(
      "<system version=\"1\">\n<cpu numaid=\"0\" affinity=\"ff\">\n<pci busid=\"0000:01:00.0\" class=\"0x020700\" " +
      pci + ">\n<nic>\n<net name=\"mlx5_0\" " + net + "/>\n</nic></pci></cpu></system>");
}

TEST(NcclRemarks, speeds_that_cannot_be_are_told_and_count_as_unknown) {
  EXPECT_THAT(of_nic("link_speed=\"16 GT/s\" link_width=\"16\"", "speed=\"200000\""), IsEmpty());
  EXPECT_THAT(of_nic("link_speed=\"-16 GT/s\" link_width=\"-16\"", "speed=\"-5\""),
              ElementsAre("I topo.xml:3: <pci>: link_speed \"-16 GT/s\" and link_width \"-16\" cannot be: "
                          "unknown",
                          "I topo.xml:5: <net>: speed \"-5\" cannot be: unknown"));
  EXPECT_THAT(of_nic("link_speed=\"nan\" link_width=\"999\"", "speed=\"1e99\""),
              ElementsAre(HasSubstr("link_speed \"nan\" and link_width \"999\""), HasSubstr("speed \"1e99\"")));
  EXPECT_THAT(of_nic("link_speed=\"Unknown\" link_width=\"0\"", "speed=\"\""), IsEmpty()) << "that says nothing";
}

TEST(NcclRemarks, a_width_that_pcie_does_not_have_is_unknown) {
  EXPECT_THAT(of_nic("link_width=\"63\"", ""), ElementsAre(HasSubstr("link_width \"63\" cannot be: unknown")));
  const std::string path = "topo.xml";
  const auto width = [&](const std::string& lanes) {
    const Result<Survey> survey = read_nccl_xml(
        path, "<system version='1'><cpu numaid='0'><pci busid='0000:01:00.0' class='0x020700' link_width='" + lanes +
                  "'><nic><net name='a'/></nic></pci></cpu></system>");
    return survey->graph.nodes[static_cast<std::size_t>(survey->graph.find("a").value())].pci.width;
  };
  EXPECT_EQ(width("63"), std::nullopt);
  EXPECT_EQ(width("0"), std::nullopt);
  EXPECT_EQ(width("12"), 12);
  EXPECT_EQ(width("32"), 32);
}

TEST(NcclRemarks, what_is_passed_over_is_told) {
  const std::string cpu = "<cpu numaid='0' affinity='f'>\n<PCI busid='0000:01:00.0' class='0x030200'/></cpu>\n";
  EXPECT_THAT(
      of_nccl("<system version='1'>" + cpu + "</system>"),
      ElementsAre("I topo.xml:2: <PCI>: 1 element of this name not read, nor what is in it: NCCL writes <pci>"));
  EXPECT_THAT(of_nccl("<system version='1'>\n<cpu numaid='0' affinity='f'/>\n<pci busid='0000:01:00.0' "
                      "class='0x030200'><gpu dev='0'/></pci>\n<pci busid='0000:02:00.0'/></system>"),
              ElementsAre("I topo.xml:3: <pci>: 2 elements outside any <cpu> not read, nor what is in them"));
}

TEST(HwlocRemarks, a_second_machine_is_told) {
  EXPECT_THAT(of_hwloc("<topology version='2.0'><object type='Machine' os_index='0' cpuset='0x1'/>\n"
                       "<object type='Machine' os_index='0' cpuset='0x1'/></topology>"),
              ElementsAre(HasSubstr("machine.xml:2: a second machine begins here, which is not read")));
}

}  // namespace
}  // namespace weft::topology
