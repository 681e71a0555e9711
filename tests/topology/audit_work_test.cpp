// What an audit costs: paths are searched once per GPU, however many rules ask for them and however many pairs of
// devices they look at. A thousand nodes are judged in seconds only while that holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "tests/topology/support/audit_cases.hpp"
#include "topology/audit/audit.hpp"
#include "topology/audit/host_answers.hpp"

namespace weft::topology::audit {
namespace {

using testing::Contains;
using testing::Field;

constexpr int kHosts = 3;

// Hosts of which everything is known that makes rules look at pairs of devices.
Machine talkative_machine() {
  Machine machine("dgx-h100 hosts:3", kHosts);
  for (int host = 0; host < kHosts; ++host) {
    machine.virtual_machine(false, host);
    machine.set("NCCL_CROSS_NIC", "1", host);
    for (const Node& node : machine.survey().graph.nodes) {
      if (node.host != host || (node.kind != NodeKind::PciBridge && node.kind != NodeKind::PciSwitch)) continue;
      AcsFacts acs;
      acs.request_redirect = true;
      machine.device(node.name, host).acs = acs;
    }
  }
  return machine;
}

TEST(AuditWork, paths_are_searched_once_per_gpu) {
  const Survey survey = talkative_machine();
  ASSERT_TRUE(survey.graph.check().ok()) << survey.graph.check().to_string();
  Locality locality(survey.graph);
  std::vector<HostAnswers> answers(static_cast<std::size_t>(locality.hosts()));
  const Site site;
  const Input input{survey, survey.graph, locality, answers, site};
  Report report;
  for (const Rule* rule : rules())
    if (rule->needs == Needs::Survey) rule->check(*rule, input, report);
  // The rules with the most pairs did look.
  const std::vector<Finding> findings = report.take();
  EXPECT_THAT(findings, Contains(Field(&Finding::id, "pcie.acs_redirect")).Times(kHosts));
  EXPECT_LE(locality.finder().calls(), survey.graph.ids(NodeKind::Gpu).size());
}

TEST(AuditWork, a_path_that_is_kept_is_the_path_that_is_searched) {
  for (std::string_view line : {"dgx-h100", "packages:2 numa:4 gpu:8 gpus_per_switch:2 nic:4 ndr hosts:2"}) {
    const Graph graph = *model(line);
    Locality locality(graph);
    for (int host = 0; host < locality.hosts(); ++host)
      for (int gpu : locality.gpus(host))
        for (const std::vector<int>* devices : {&locality.gpus(host), &locality.nics(host)})
          for (int device : *devices)
            EXPECT_EQ(locality.device_path(gpu, device), graph.best_path(gpu, device)) << line;
  }
}

TEST(AuditWork, an_address_that_many_hosts_have_is_one_finding) {
  Machine machine("cpu-2socket hosts:3", kHosts);
  for (int host = 0; host < kHosts; ++host) machine.interface("eth0", "physical", "10.0.0.7", host);
  std::vector<Finding> findings = audit(machine);
  std::erase_if(findings, [](const Finding& one) { return one.id != "net.duplicate_address"; });
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings.front().evidence, "3 hosts have it: host0 on eth0, host1 on eth0, host2 on eth0");
}

}  // namespace
}  // namespace weft::topology::audit
