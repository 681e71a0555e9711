// Runs the fuzz target of reports over seeds and seeded mutations of them: no input crashes it, hangs it or breaks a
// promise.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/topology/support/fuzz.hpp"
#include "topology/survey.hpp"

namespace weft::topology {
namespace {

using test::feed;

constexpr int kMutations = 3000;
const std::vector<std::string> kWords = {"-1",   "0",   "1e308",    "99999999999999999999", "null", "[]", "{}", "\"\"",
                                         "true", "0.5", "\"x\":1,", "18446744073709551615"};

Survey full_survey() {
  Survey survey;
  survey.graph = *model("packages:2 gpu:2 nvlink:25 nic:1 ndr");
  survey.source = "this machine";
  survey.nccl_version = 1;
  HostFacts& host = survey.hosts.emplace_back();
  host.hostname = "node1";
  host.kernel.modules = std::vector<std::string>{"nvidia"};
  host.process.memlock_bytes = kUnlimited;
  host.process.resident = {{0, 12}};
  host.environment = std::vector<Variable>{{"NCCL_DEBUG", "INFO"}};
  host.interfaces = {{"eth0", "physical", "up", 3.125, 9000, {}, {}, {}, {"10.0.0.4", "fe80::1"}, true}};
  DeviceFacts& device = host.devices.emplace_back();
  device.bus_id = "0000:10:00.0";
  device.node = "nic0";
  device.acs = AcsFacts{true, false, false, false, true};
  PortFacts& port = device.ports.emplace_back();
  port.gids = {{0, "fe80:0000:0000:0000:0c42:a103:0056:f8a4", "RoCE v2", "eth0"}};
  port.errors = {{"symbol_error", 1}};
  device.nvlinks = {{0, true, 4, "0000:11:00.0", "gpu", 25.0}};
  survey.remarks = {{RemarkKind::GaveUp, "NVML", "no answer within 2 s"}};
  survey.measurements = {{0, 1, "copy", true, 12.5, 0.2}};
  return survey;
}

std::vector<std::string> seeds() {
  base::JsonWriter json;
  json.begin_object();
  write_survey(json, full_survey());
  json.end_object();
  const std::string report = std::move(json).text();
  return {report, to_json(*model("cores:2")),
          "{\"schema\":1,\"gpus\":[{\"x\":[]}],\"links\":{\"nvlink\":[]}," + report.substr(report.find('{') + 1),
          R"({"schema":1,"graph":{"schema":1,"name":"","nodes":[],"links":[]},"facts":[{}]})"};
}

TEST(SurveyJsonFuzz, seeds_and_their_cuts_keep_all_promises) {
  for (const std::string& text : seeds()) {
    feed(text);
    test::feed_cuts(text, 400);
  }
}

TEST(SurveyJsonFuzz, mutations_keep_all_promises) {
  EXPECT_GT(test::feed_mutations(seeds(), kWords, kMutations,
                                 [](const std::string& text) { return survey_from_json(text).has_value(); }),
            0.01);
}

}  // namespace
}  // namespace weft::topology
