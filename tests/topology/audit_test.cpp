// Audit rules: each fires where it should and stays silent where it must.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "tests/topology/support/audit_cases.hpp"
#include "topology/audit/audit.hpp"

namespace weft::topology::audit {
namespace {

using testing::HasSubstr;

std::string words_of(const Finding& finding) {
  return std::string(to_string(finding.severity)) + " " + std::string(finding.id) + " " + finding.subject + ": " +
         finding.evidence + ". Fix: " + finding.fix;
}

std::vector<Finding> of_rule(const std::vector<Finding>& findings, std::string_view rule) {
  std::vector<Finding> some;
  std::copy_if(findings.begin(), findings.end(), std::back_inserter(some),
               [&](const Finding& finding) { return finding.id == rule; });
  return some;
}

TEST(Audit, each_rule_speaks_and_is_silent_as_its_cases_say) {
  for (const Case& one : all_cases()) {
    SCOPED_TRACE(std::string(one.rule) + ": " + std::string(one.name));
    ASSERT_TRUE(one.survey.graph.check().ok()) << one.survey.graph.check().to_string();
    const std::vector<Finding> found = of_rule(findings_of(one), one.rule);
    if (found.empty() == one.fires) ADD_FAILURE() << (found.empty() ? "says nothing" : words_of(found.front()));
    if (!one.fires || found.empty()) continue;
    EXPECT_THAT(words_of(found.front()), HasSubstr(one.evidence));
    EXPECT_EQ(to_string(found.front().severity), to_string(one.severity.value_or(found.front().severity)));
  }
}

TEST(Audit, every_rule_has_a_case_both_ways) {
  std::map<std::string_view, std::pair<int, int>> counts;
  for (const Case& one : all_cases()) ++(one.fires ? counts[one.rule].first : counts[one.rule].second);
  for (const Rule* rule : rules()) {
    EXPECT_GT(counts[rule->id].first, 0) << rule->id << " has no case where it fires";
    EXPECT_GT(counts[rule->id].second, 0) << rule->id << " has no case where it must not";
  }
  for (const auto& [id, count] : counts) EXPECT_NE(find_rule(id), nullptr) << id << " is no rule";
}

TEST(Audit, healthy_machines_have_no_findings) {
  for (std::string_view name : model_names()) {
    for (const Finding& finding : audit(Machine(name))) ADD_FAILURE() << name << ": " << words_of(finding);
  }
}

TEST(Audit, small_machines_have_no_findings) {
  for (std::string_view line : {"packages:1 cores:4", "packages:1 cores:8 gpu:1", "packages:1 cores:2 nic:1 eth:1"}) {
    Machine machine(line);
    machine.virtual_machine(false);
    machine.host().kernel.iommu_type = "DMA-FQ";
    machine.host().kernel.numa_balancing = true;
    machine.host().process.memlock_bytes = 8 << 20;
    machine.host().process.may_lock_all = false;
    machine.interface("docker0", "bridge", "172.17.0.1");
    machine.interface("veth1", "veth", "172.17.0.2");
    machine.set("");
    for (const Finding& finding : audit(machine)) ADD_FAILURE() << line << ": " << words_of(finding);
  }
}

TEST(Audit, what_is_missing_is_looked_for_with_the_tool_for_its_kind) {
  Machine whole("packages:2 cores:56 gpu:8 gpus_per_switch:1 nic:8 ndr");
  Machine less("packages:1 cores:28 gpu:7 gpus_per_switch:1 nic:7 ndr");
  for (Machine* machine : {&whole, &less})
    for (Node& node : machine->survey().graph.nodes)
      if (node.kind == NodeKind::Numa) node.memory_bytes = std::uint64_t{64} << 30;
  const Survey reference = whole;
  std::map<std::string, std::string> fixes;
  for (const Finding& finding : expect(less, reference))
    if (finding.id == "expect.missing") fixes[finding.subject] = finding.fix;
  const std::map<std::string, std::string> tools = {
      {"GPUs", "lspci"},         {"fabric NICs", "ibstat"}, {"packages", "dmidecode --type processor"},
      {"NUMA nodes", "numactl"}, {"cores", "lscpu"},        {"memory", "dmidecode --type memory"}};
  EXPECT_EQ(fixes.size(), tools.size());
  for (const auto& [subject, tool] : tools) {
    EXPECT_THAT(fixes[subject], HasSubstr(tool)) << subject;
    const bool on_the_bus = subject == "GPUs" || subject == "fabric NICs";
    EXPECT_EQ(fixes[subject].find("lspci") != std::string::npos, on_the_bus) << subject << ": " << fixes[subject];
  }
}

TEST(Audit, rules_are_sorted_and_say_all_that_they_should) {
  const auto all = rules();
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](const Rule* a, const Rule* b) { return a->id < b->id; }));
  std::set<std::string_view> ids;
  for (const Rule* rule : all) {
    EXPECT_TRUE(ids.insert(rule->id).second) << rule->id;
    EXPECT_NE(rule->id.find('.'), std::string_view::npos) << rule->id;
    for (std::string_view text : {rule->summary, rule->silent, rule->fix, rule->reference})
      EXPECT_FALSE(text.empty()) << rule->id;
  }
  EXPECT_GE(ids.size(), 60u);
}

TEST(Audit, severe_findings_come_first) {
  Machine machine("packages:2 gpu:4 gpus_per_switch:2 nic:4 ndr");
  for (const char* nic : {"nic2", "nic3"}) machine.move(nic, "switch0");
  machine.host().process.memlock_bytes = 65536;
  machine.host().process.may_lock_all = false;
  machine.host().container.shm_bytes = std::uint64_t{512} << 20;
  const std::vector<Finding> findings = audit(machine);
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_EQ(findings[0].id, "limits.memlock");
  EXPECT_TRUE(std::is_sorted(findings.begin(), findings.end(),
                             [](const Finding& a, const Finding& b) { return a.severity > b.severity; }));
}

TEST(OneLine, tells_the_most_severe_and_counts_the_rest) {
  std::vector<Finding> findings;
  EXPECT_EQ(one_line(findings, Severity::Info), "");
  findings.push_back({"limits.memlock", Severity::Error, "this process", "e", "f", "r"});
  EXPECT_EQ(one_line(findings, Severity::Error), "error limits.memlock this process");
  for (int i = 0; i < 40; ++i)
    findings.push_back({"net.port_down", Severity::Warning, "mlx5_" + std::to_string(i) + "\nx", "e", "f", "r"});
  const std::string line = one_line(findings, Severity::Warning);
  EXPECT_LE(line.size(), 240u);
  EXPECT_THAT(line, testing::StartsWith("error limits.memlock this process; warning net.port_down mlx5_0 x; "));
  EXPECT_THAT(line, testing::EndsWith(" more"));
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(one_line({findings.begin() + 1, findings.end()}, Severity::Error), "");
}

TEST(Facts, this_process_has_limits) {
  const Result<Survey> here = survey();
  ASSERT_TRUE(here.has_value());
  EXPECT_TRUE(here->facts(0).process.memlock_bytes.has_value());
  EXPECT_TRUE(here->facts(0).process.may_lock_all.has_value());
  EXPECT_TRUE(here->facts(0).container.shm_bytes.has_value());
}

}  // namespace
}  // namespace weft::topology::audit
