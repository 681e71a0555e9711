// A survey: its facts keep what they say through JSON, and what is not known stays unknown.
#include "topology/survey.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace weft::topology {
namespace {

using testing::HasSubstr;

std::string json_of(const Survey& survey) {
  base::JsonWriter json;
  json.begin_object(base::JsonWriter::Layout::Lines);
  write_survey(json, survey);
  json.end_object();
  return std::move(json).text();
}

Survey small() {
  Survey survey;
  survey.graph = *model("gpu:1 nic:1 ndr");
  survey.source = "model";
  return survey;
}

DeviceFacts full_device() {
  DeviceFacts device;
  device.bus_id = "0000:c1:00.0";
  device.node = "nic0";
  device.guid = "0011:2233:4455:6677";
  device.acs = AcsFacts{true, true, false, false, false};
  device.correctable_errors = 0;
  PortFacts port;
  port.state = "ACTIVE";
  port.rate_gbs = 50;
  port.gids = {{3, "0000:0000:0000:0000:0000:ffff:0a00:0004", "RoCE v2", "eth0"}};
  port.errors = {{"symbol_error", 0}, {"link_downed", ~std::uint64_t{0}}};
  device.ports = {port};
  device.nvlinks = {{0, true, 4, "0000:05:00.0", "switch", 25.0}, {1, false, {}, {}, {}, {}}};
  return device;
}

TEST(Survey, facts_keep_what_they_say_through_json) {
  Survey survey = small();
  HostFacts host;
  host.hostname = "node1";
  host.kernel.numa_balancing = false;
  host.kernel.modules = std::vector<std::string>{"nvidia", "nvidia_peermem"};
  host.kernel.peer_memory_clients = std::vector<std::string>{};
  host.process.memlock_bytes = kUnlimited;
  host.process.resident = {{0, 12}, {1, 3}};
  host.environment = std::vector<Variable>{{"NCCL_IB_GID_INDEX", "3"}};
  host.interfaces = {{"eth0", "physical", "up", 3.125, 9000, {}, {}, {}, {"10.0.0.4"}, true}};
  host.devices = {full_device(), DeviceFacts()};
  survey.hosts = {host};
  survey.remarks = {{RemarkKind::GaveUp, "NVML", "no answer within 2 s"}};
  survey.measurements = {{0, 1, "copy", true, 12.5, 0.2}};
  survey.nccl_version = 2;
  const Result<Survey> back = survey_from_json(json_of(survey));
  ASSERT_TRUE(back.has_value()) << back.error().to_string();
  EXPECT_EQ(*back, survey);
}

TEST(Survey, what_is_unknown_is_not_written_and_stays_unknown) {
  Survey survey = small();
  survey.hosts = {HostFacts()};
  const std::string json = json_of(survey);
  EXPECT_THAT(json, testing::Not(HasSubstr("kernel")));
  EXPECT_EQ(*survey_from_json(json), survey);
}

TEST(Survey, a_graph_alone_is_a_survey_without_facts) {
  const Result<Survey> survey = survey_from_json(to_json(*model("dgx-h100")));
  ASSERT_TRUE(survey.has_value());
  EXPECT_EQ(survey->graph, *model("dgx-h100"));
  EXPECT_TRUE(survey->hosts.empty());
  EXPECT_EQ(survey->facts(0), HostFacts());
}

TEST(Survey, wrong_members_are_refused_with_their_place) {
  const std::string good = json_of(small());
  const auto with = [&](std::string_view members) {
    return survey_from_json("{" + std::string(members) + "," + good.substr(good.find('{') + 1)).status().to_string();
  };
  EXPECT_THAT(with(R"("facts": [{"kernel": {"numa_balancing": 1}}])"), HasSubstr("facts[0].kernel.numa_balancing"));
  EXPECT_THAT(with(R"("facts": [{"devices": [{"bus_id": "a"}]}])"), HasSubstr("node"));
  EXPECT_THAT(with(R"("facts": [{"nonsense": 1}])"), HasSubstr("nonsense"));
  EXPECT_THAT(with(R"("facts": [{}, {}])"), HasSubstr("facts"));
  EXPECT_THAT(with(R"("measurements": [{"from": 0, "to": 99999, "what": "copy", "bandwidth_gbs": 1}])"),
              HasSubstr("to"));
  EXPECT_THAT(with(R"("measurements": [{"from": 0, "to": 1, "what": "copy", "bandwidth_gbs": -1}])"),
              HasSubstr("not positive"));
}

TEST(Survey, devices_are_found_by_node_and_by_bus_id) {
  HostFacts host;
  host.devices = {DeviceFacts(), full_device()};
  EXPECT_EQ(host.device("nic0"), &host.devices[1]);
  EXPECT_EQ(host.device("0000:c1:00.0"), &host.devices[1]);
  EXPECT_EQ(host.device("nic1"), nullptr);
  EXPECT_EQ(host.device(""), nullptr);
}

}  // namespace
}  // namespace weft::topology
