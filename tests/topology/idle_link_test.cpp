// The rate of a GPU's link in hwloc XML is that of the moment: where it may be that of an idle GPU, reports say so.
#include "topology/idle_link.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "topology/export/node_words.hpp"
#include "topology/import/import.hpp"

namespace weft::topology {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Judged {
  std::optional<double> rate;
  std::optional<double> above;
  std::string words;
};

// One GPU or NIC with that rate, below a root port with its own.
Judged judge(std::string_view pci_class, std::string_view device, std::string_view speed,
             std::string_view speed_above) {
  const std::string path = "machine.xml";
  const Result<Survey> survey = read_hwloc_xml(
      path,
      fmt::format(
          "<topology version='2.0'><object type='Machine' os_index='0' cpuset='0x1' nodeset='0x1'>"
          "<object type='NUMANode' os_index='0' cpuset='0x1' nodeset='0x1'/>"
          "<object type='Package' os_index='0' cpuset='0x1' nodeset='0x1'><object type='Core' cpuset='0x1' "
          "os_index='0'>"
          "<object type='PU' os_index='0' cpuset='0x1'/></object></object>"
          "<object type='Bridge' bridge_type='0-1' depth='0' bridge_pci='0000:[00-01]'>"
          "<object type='Bridge' bridge_type='1-1' depth='1' bridge_pci='0000:[01-01]' pci_busid='0000:00:01.0' "
          "pci_type='0604 [8086:2030] [0000:0000] 07' pci_link_speed='{3}'>"
          "<object type='PCIDev' pci_busid='0000:01:00.0' pci_type='{0} [{1}] [0000:0000] a1' pci_link_speed='{2}'/>"
          "</object></object></object></topology>",
          pci_class, device, speed, speed_above));
  EXPECT_TRUE(survey) << survey.status().to_string();
  if (!survey) return {};
  const Locality locality(survey->graph);
  for (const Node& node : survey->graph.nodes)
    if (node.bus_id == "0000:01:00.0")
      return {idle_rate(locality, node.id), idle_rate_above(locality, node.id), describe_node(node, locality)};
  ADD_FAILURE() << "the device is not in the graph";
  return {};
}

TEST(IdleLink, a_gpu_that_may_have_idled_is_marked) {
  for (const char* speed : {"4.000000", "2.000000", "1.000000", "0.250000"}) {
    const Judged gpu = judge("0302", "10de:1eb8", speed, speed);
    EXPECT_EQ(gpu.rate, std::stod(speed));
    EXPECT_EQ(gpu.above, std::nullopt);
    EXPECT_THAT(gpu.words, HasSubstr("GB/s now, maybe idle"));
  }
  EXPECT_EQ(judge("0380", "1002:738c", "4.0", "4.0").rate, 4.0);
}

TEST(IdleLink, the_port_above_may_tell_of_the_moment_where_the_gpu_tells_its_best) {
  const Judged gpu = judge("0302", "10de:1eb8", "15.753846", "2.000000");
  EXPECT_EQ(gpu.rate, std::nullopt);
  EXPECT_EQ(gpu.above, 2.0);
  EXPECT_THAT(gpu.words, HasSubstr("PCIe 15.75 GB/s, 2 above it now, maybe idle"));
}

TEST(IdleLink, what_is_faster_or_unknown_or_never_idles_is_not) {
  for (const char* speed : {"15.753846", "63.015385", "7.876923", "1.969231", "0.000000"}) {
    const Judged gpu = judge("0302", "10de:1eb8", speed, speed);
    EXPECT_EQ(gpu.rate, std::nullopt) << speed;
    EXPECT_EQ(gpu.above, std::nullopt) << speed;
  }
  const Judged nic = judge("0207", "15b3:1017", "4.0", "2.0");
  EXPECT_EQ(nic.rate, std::nullopt);
  EXPECT_EQ(nic.above, std::nullopt);
  EXPECT_THAT(nic.words, Not(HasSubstr("idle")));
}

}  // namespace
}  // namespace weft::topology
