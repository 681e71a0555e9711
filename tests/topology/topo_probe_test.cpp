// The program topo-probe: exit codes, one line for each error, text and JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/topology/support/topo_probe.hpp"
#include "weft/graph.hpp"

namespace weft::topology {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

using test::expect_one_line;
using test::Outcome;
using test::read_all;
using test::TopoProbe;

TEST_F(TopoProbe, shows_this_machine) {
  const Outcome outcome = run("");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("1 host"));
  EXPECT_THAT(outcome.out, HasSubstr("cores0"));
  EXPECT_EQ(outcome.err, "");
}

TEST_F(TopoProbe, json_of_this_machine_holds_what_it_counts) {
  const json report = json::parse(run("--json --rings").out);
  EXPECT_EQ(report["schema"], 1);
  EXPECT_GE(report["packages"].size(), 1u);
  EXPECT_GE(report["cores"], 1);
  EXPECT_GE(report["pus"], report["cores"]);
  EXPECT_EQ(report["rings"]["rings"][0].size(), report["core_groups"].size());
}

TEST_F(TopoProbe, shows_models_with_matrix_and_rings) {
  const Outcome all = run("--model dgx-h100");
  EXPECT_THAT(all.out, HasSubstr("8 GPUs, 8 NICs"));
  EXPECT_THAT(all.out, HasSubstr("NV18 450"));
  const Outcome matrix = run("--model dgx-h100 --matrix");
  EXPECT_THAT(matrix.out, HasSubstr("PIX 63.02"));
  EXPECT_THAT(matrix.out, Not(HasSubstr("fingerprint")));
  EXPECT_THAT(run("--model cpu-2socket --matrix").out, HasSubstr("no matrix: there are no GPUs"));
  const Outcome rings = run("--model 'dgx-h100 hosts:2' --rings --ranks 4");
  EXPECT_THAT(rings.out, HasSubstr("4 ranks on 2 hosts"));
  EXPECT_THAT(rings.out, HasSubstr("narrowest step: NET, 50 GB/s"));
  EXPECT_THAT(rings.out, HasSubstr("tree 1:"));
}

TEST_F(TopoProbe, json_of_a_model_has_the_documented_fields) {
  const json report = json::parse(run("--model dgx-a100 --json").out);
  EXPECT_EQ(report["gpus"].size(), 8u);
  EXPECT_EQ(report["gpus"][7]["numa"], json::array({6}));
  EXPECT_EQ(report["gpus"][0]["pcie"]["gts"], 16.0);
  EXPECT_EQ(report["nics"][0]["fabric"], true);
  EXPECT_EQ(report["matrix"]["gpu_gpu"][0][1], "NV12");
  EXPECT_EQ(report["matrix"]["gpu_gpu"][3][3], "X");
  EXPECT_EQ(report["matrix"]["gpu_gpu_pcie"][0][1], "PIX");
  EXPECT_EQ(report["matrix"]["gpu_nic"][0][7], "SYS");
  EXPECT_EQ(report["nearest_nics"][2], json::array({2, 3}));
  EXPECT_EQ(report["links"]["nvlink_switch"][0]["count"], 12);
  EXPECT_EQ(report["findings"], json::array());
  EXPECT_FALSE(report.contains("rings"));
}

TEST_F(TopoProbe, its_json_reads_back_as_the_same_graph) {
  EXPECT_EQ(run("--model 'dgx-h100 hosts:2' --json --output " + path("g.json")).exit_code, 0);
  const Result<Graph> graph = load(path("g.json"));
  ASSERT_TRUE(graph) << graph.status().to_string();
  EXPECT_EQ(*graph, *model("dgx-h100 hosts:2"));
  EXPECT_EQ(run("--from " + path("g.json") + " --json").out, read_all(path("g.json")));
}

TEST_F(TopoProbe, matrix_and_rings_are_all_that_is_shown_or_join_the_json) {
  const std::string machine = "--model dgx-h100 ";
  const std::string matrix = run(machine + "--matrix").out;
  const std::string rings = run(machine + "--rings").out;
  EXPECT_EQ(run(machine + "--rings --matrix").out, matrix + rings);
  EXPECT_EQ(run(machine + "--json --matrix").out, run(machine + "--json").out);
  EXPECT_TRUE(json::parse(run(machine + "--json --rings --matrix").out).contains("rings"));
  expect_one_line(run(machine + "--ranks 4"), "--ranks requires --rings");
}

TEST_F(TopoProbe, audit_shows_the_findings_alone) {
  const std::string far = "--model 'numa:4 gpu:4 gpus_per_switch:1 nic:2 ndr' ";
  EXPECT_THAT(run(far + "--audit").out, testing::StartsWith("findings\n  warning topo.gpu_without_near_nic: gpu0"));
  EXPECT_THAT(run("--model dgx-h100 --audit").out, testing::MatchesRegex("no findings \\([0-9]+ rules\\)\n"));
  EXPECT_EQ(run(far + "--matrix --audit").out, run(far + "--matrix").out + run(far + "--audit").out);
}

TEST_F(TopoProbe, parts_stand_in_the_order_that_the_help_names) {
  EXPECT_THAT(run("--help").out,
              HasSubstr("Without --bindings, --env, --measure, --matrix, --rings and --audit everything is shown"));
  const std::string model = "--model dgx-h100 ";
  std::string parts;
  for (const char* part : {"--bindings", "--env", "--matrix", "--rings", "--audit"}) parts += run(model + part).out;
  EXPECT_EQ(run(model + "--audit --rings --matrix --env --bindings").out, parts);
}

TEST_F(TopoProbe, a_format_is_named_once) {
  EXPECT_EQ(run("--model dgx-h100 --format json").out, run("--model dgx-h100 --json").out);
  EXPECT_EQ(run("--model dgx-h100 --format text").out, run("--model dgx-h100").out);
  expect_one_line(run("--format yaml"), "yaml");
  expect_one_line(run("--format text --json"), "--format excludes --json");
}

TEST_F(TopoProbe, like_hosts_are_shown_once) {
  const Outcome outcome = run("--model 'dgx-h100 hosts:64'");
  EXPECT_THAT(outcome.out, HasSubstr("and 63 hosts like it"));
  EXPECT_THAT(outcome.out, HasSubstr("512 links of 50 GB/s"));
  EXPECT_THAT(outcome.out, HasSubstr("many devices: --matrix shows how they reach each other"));
}

TEST_F(TopoProbe, findings_that_hosts_have_alike_are_told_once) {
  const std::string far = "--model 'numa:4 gpu:4 gpus_per_switch:1 nic:2 ndr hosts:64' ";
  const std::string one = run("--model 'numa:4 gpu:4 gpus_per_switch:1 nic:2 ndr' --audit").out;
  std::string all = run(far + "--audit").out;
  const std::string where = " on all 64 hosts";
  ASSERT_THAT(all, HasSubstr("warning topo.gpu_without_near_nic" + where + ": gpu0"));
  EXPECT_EQ(all.erase(all.find(where), where.size()), one);
  EXPECT_THAT(run(far).out, testing::EndsWith(run(far + "--audit").out));
  const std::string page = run(far + "--format html").out;
  EXPECT_THAT(page, HasSubstr("topo.gpu_without_near_nic on all 64 hosts"));
  EXPECT_THAT(page, HasSubstr("<b>1</b>warning"));
  EXPECT_THAT(page, HasSubstr("<p>1 network switch</p>"));
}

TEST_F(TopoProbe, matrices_are_written_for_up_to_1024_devices) {
  const std::string matrix = run("--model 'dgx-h100 hosts:64' --matrix").out;
  EXPECT_THAT(matrix, HasSubstr("NET 50"));
  EXPECT_THAT(run("--model 'dgx-h100 hosts:65' --matrix").out, HasSubstr("no matrix: there are more than 1024"));
  EXPECT_EQ(json::parse(run("--model 'dgx-h100 hosts:17' --json").out)["matrix"], nullptr);
  EXPECT_EQ(json::parse(run("--model 'dgx-h100 hosts:17' --json --matrix").out)["matrix"]["gpu_gpu"].size(), 136u);
}

TEST_F(TopoProbe, matrices_say_which_links_bind) {
  EXPECT_THAT(run("--model dgx-a100 --matrix").out,
              HasSubstr("32 pairs by package0 - package1 (cpu_socket), 16 GB/s: gpu0 to nic4 and others"));
  const json report = json::parse(run("--model dgx-a100 --json").out);
  const json& link = report["graph"]["links"][report["matrix"]["gpu_nic_link"][0][7].get<std::size_t>()];
  EXPECT_EQ(link["kind"], "cpu_socket");
  EXPECT_EQ(report["matrix"]["gpu_nic_gbs"][0][7], 16);
  EXPECT_GT(report["matrix"]["nic_nic_us"][0][1], 0);
  EXPECT_EQ(report["matrix"]["gpu_gpu_link"][0][0], -1);
}

TEST_F(TopoProbe, marks_rates_that_nobody_told) {
  const std::string from = "--from tests/topology/data/nvidia-smi-3gpu-2nic.txt ";
  const std::string text = run(from + "--matrix").out;
  EXPECT_THAT(text, HasSubstr("(class, GB/s and us; ~ is assumed, nobody told it)"));
  EXPECT_THAT(text, HasSubstr("SYS ~10 "));
  EXPECT_THAT(run(from + "--format html").out, HasSubstr("<small>~"));
  EXPECT_THAT(run("--model dgx-h100 --matrix").out, testing::Not(HasSubstr("~")));
}

TEST_F(TopoProbe, reads_hwloc_xml_and_recorded_trees) {
  const Outcome xml = run("--from tests/topology/data/2xp100-one-plx-switch-cx5.xml");
  EXPECT_EQ(xml.exit_code, 0) << xml.err;
  EXPECT_THAT(xml.out, HasSubstr("PIX 15.75"));
  scratch_.add_cpus(2, 2);
  const Outcome tree = run("--root " + scratch_.root());
  EXPECT_EQ(tree.exit_code, 0) << tree.err;
  EXPECT_THAT(tree.out, HasSubstr("2 packages, 2 NUMA nodes, 4 cores"));
}

TEST_F(TopoProbe, what_a_source_does_not_say_is_null) {
  const Outcome outcome = run("--from tests/topology/data/nvidia-smi-3gpu-2nic.txt --json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report["cores"], nullptr);
  EXPECT_EQ(report["pus"], nullptr);
  EXPECT_EQ(report["gpus"][0]["bus_id"], nullptr);
  EXPECT_EQ(report["gpus"][0]["pcie"]["gbs"], nullptr);
  EXPECT_EQ(report["matrix"]["gpu_gpu"][0], json::array({"X", "NV4", "SYS"}));
  EXPECT_EQ(report["matrix"]["gpu_gpu_pcie"][0], json::array({"X", nullptr, "SYS"}));
  EXPECT_EQ(report["matrix"]["gpu_nic"][1], json::array({"PXB", "SYS"}));
  EXPECT_EQ(report["nearest_nics"], json::parse("[[0], [0], [1]]"));
  EXPECT_THAT(run("--from tests/topology/data/nvidia-smi-3gpu-2nic.txt").out, HasSubstr("unknown cores, unknown cpus"));
}

TEST_F(TopoProbe, a_cut_import_is_one_line_with_file_and_line) {
  scratch_.write("/cut.xml", "<system version=\"1\">\n<cpu numaid=\"0\">\n<pci");
  expect_one_line(run("--from " + path("cut.xml") + " --json"), "cut.xml:3: is not well-formed XML, or cut");
}

TEST_F(TopoProbe, fail_on_decides_the_exit_status) {
  const std::string far =
      "--model 'numa:4 gpu:4 gpus_per_switch:1 nic:2 ndr'";  // two GPUs without a near NIC: a warning
  EXPECT_EQ(run(far).exit_code, 0);
  EXPECT_THAT(run(far).out, HasSubstr("warning topo.gpu_without_near_nic: gpu0"));
  EXPECT_EQ(run(far + " --fail-on info").exit_code, 1);
  EXPECT_EQ(run(far + " --fail-on warning --json").exit_code, 1);
  EXPECT_EQ(run(far + " --fail-on error").exit_code, 0);
  EXPECT_EQ(run("--model dgx-h100 --fail-on info").exit_code, 0);
}

TEST_F(TopoProbe, output_is_whole_or_not_there) {
  EXPECT_EQ(run("--model cpu-2socket --output " + path("report.txt")).exit_code, 0);
  EXPECT_THAT(read_all(path("report.txt")), HasSubstr("cpu-2socket"));
  expect_one_line(run("--model cpu-2socket --output " + path("absent/report.txt")), "absent/report.txt");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(scratch_.root()))
    files += entry.path().extension() == ".tmp" ? 1 : 0;
  EXPECT_EQ(files, 0u);
}

TEST_F(TopoProbe, output_is_never_put_in_the_place_of_what_is_no_file) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  expect_one_line(run("--model cpu-2socket --output " + path("pipe")), "it is a pipe; give the name of a file");
  EXPECT_TRUE(std::filesystem::is_fifo(path("pipe")));
  expect_one_line(run("--model cpu-2socket --output " + scratch_.root()), "it is a folder");
}

TEST_F(TopoProbe, output_follows_a_symbolic_link) {
  std::filesystem::create_symlink("report.txt", path("link"));
  EXPECT_EQ(run("--model cpu-2socket --output " + path("link")).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_THAT(read_all(path("report.txt")), HasSubstr("cpu-2socket"));
}

TEST_F(TopoProbe, input_that_is_no_file_or_too_long_is_refused) {
  expect_one_line(run("--from " + scratch_.root()), "holds no recorded tree");
  expect_one_line(run("--from /dev/zero"), "it is a device; give the name of a file");
  scratch_.write("/long.json", "{");
  std::filesystem::resize_file(path("long.json"), (std::uintmax_t{256} << 20) + 1);  // a hole: takes no room
  expect_one_line(run("--from " + path("long.json")), "is longer than 8388608 bytes");
}

TEST_F(TopoProbe, an_empty_value_is_not_taken_for_none) {
  for (const char* option : {"--model", "--from", "--root", "--output"})
    expect_one_line(run(std::string(option) + " ''"), std::string(option) + ": is empty");
}

TEST_F(TopoProbe, small_questions_have_short_answers) {
  EXPECT_THAT(run("--list-models").out, HasSubstr("dgx-h100\n"));
  EXPECT_THAT(run("--version").out, HasSubstr("topo-probe 0."));
  EXPECT_EQ(run("--version").exit_code, 0);
  EXPECT_EQ(run("--help").exit_code, 0);
  EXPECT_THAT(run("--help").out, HasSubstr("--fail-on"));
}

TEST_F(TopoProbe, bad_usage_and_input_end_with_2_and_one_line) {
  expect_one_line(run("--model dgx-h999"), "dgx-h999");
  expect_one_line(run("--from /nonexistent"), "/nonexistent");
  expect_one_line(run("--root /nonexistent"), "/nonexistent");
  expect_one_line(run("--frobnicate"), "frobnicate");
  expect_one_line(run("--fail-on fatal"), "fatal");
  expect_one_line(run("--model dgx-h100 --from x"), "--from");
  expect_one_line(run("--model dgx-h100 --rings --ranks 9"), "8 GPUs");
  expect_one_line(run("--ranks 0"), "--ranks");
  scratch_.write("/bad.json", "{\"schema\": 1,\n\"name\": }");
  expect_one_line(run("--from " + path("bad.json")), "line 2");
  scratch_.write("/new.xml", "<topology version=\"3.0\"></topology>");
  expect_one_line(run("--from " + path("new.xml")), "no object of type Machine");
}

TEST_F(TopoProbe, a_full_disk_is_an_error) {
  const char* folder = std::getenv("WEFT_TEST_BIN");
  ASSERT_NE(folder, nullptr);
  for (const char* arguments :
       {"--model dgx-h100", "--model dgx-h100 --json", "--list-models", "--help", "--version"}) {
    const std::string command = std::string(folder) + "/topo-probe " + arguments + " >/dev/full 2>" + path("err");
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 2) << arguments;
    EXPECT_EQ(read_all(path("err")), "topo-probe: cannot write to standard output: No space left on device\n");
  }
  EXPECT_EQ(WEXITSTATUS(std::system((std::string(folder) + "/topo-probe --bad 2>/dev/full").c_str())), 2);
}

}  // namespace
}  // namespace weft::topology
