// The forms of topo-probe's report that other programs read: Graphviz, Prometheus, NCCL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>

#include "tests/topology/support/nccl_loader.hpp"
#include "tests/topology/support/topo_probe.hpp"
#include "topology/export/dot.hpp"
#include "weft/graph.hpp"

namespace weft::topology {
namespace {

using nlohmann::json;
using test::expect_one_line;
using test::TopoProbe;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kMachines[] = {"",
                                     "--model dgx-h100",
                                     "--model 'dgx-a100 hosts:2'",
                                     "--from tests/topology/data/tioga-8gcd-mi250x-4xslingshot.xml",
                                     "--from tests/topology/data/nvidia-smi-3gpu-2nic.txt",
                                     "--from tests/topology/data/rccl-xgmi.xml"};

// The part of Graphviz's grammar that we write: statements of nodes, edges, attributes and subgraphs. Says what is
// wrong, or nothing.
class DotReader {
 public:
  explicit DotReader(std::string text) : text_(std::move(text)) {}

  std::string read() {
    if (word() != "graph") return "does not start with graph";
    token();
    if (!block()) return "wrong near: " + text_.substr(at_, 40);
    blanks();
    return at_ == text_.size() ? "" : "something is behind the end";
  }

 private:
  void blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool take(char c) {
    blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string word() {
    blanks();
    std::string word;
    const auto is_part = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    };
    while (at_ < text_.size() && is_part(text_[at_])) word += text_[at_++];
    return word;
  }
  // A word or a quoted text.
  bool token() {
    if (!take('"')) return !word().empty();
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    return take('"');
  }
  bool attributes() {
    while (!take(']')) {
      if (!token() || !take('=') || !token()) return false;
      take(',');
    }
    return true;
  }
  bool statement() {
    const std::string first = word();
    if (first.empty()) return false;
    if (first == "subgraph") return !word().empty() && block();
    if (take('=') && !token()) return false;
    if (take('-') && (!take('-') || word().empty())) return false;
    if (take('[') && !attributes()) return false;
    return take(';');
  }
  bool block() {
    if (!take('{')) return false;
    while (!take('}'))
      if (!statement()) return false;
    return true;
  }

  std::string text_;
  std::size_t at_ = 0;
};

TEST_F(TopoProbe, dot_is_what_graphviz_reads) {
  const bool graphviz = std::system("command -v dot >/dev/null 2>&1") == 0;
  for (const char* machine : kMachines) {
    const std::string text = run(std::string(machine) + " --format dot --output " + path("g.dot")).err;
    EXPECT_EQ(text, "") << machine;
    EXPECT_EQ(DotReader(test::read_all(path("g.dot"))).read(), "") << machine;
    if (!graphviz) continue;
    EXPECT_EQ(std::system(("dot -Tcanon -o /dev/null " + path("g.dot")).c_str()), 0) << machine;
  }
  if (!graphviz) std::puts("dot is not installed: only our own reading of the grammar was tried");
}

TEST(Dot, foreign_names_are_text) {
  Graph graph = model("cpu-2socket").value();
  graph.name = "a\"; b [label=x]; \\N\n\xff";
  const std::string text = to_dot(graph);
  EXPECT_EQ(DotReader(text).read(), "");
  EXPECT_THAT(text, StartsWith("graph \"a\\\"; b [label=x]; \\\\N--\" {"));
}

struct Sample {
  std::map<std::string, std::string> labels;
  double value = 0;
};

// Reads Prometheus' text format; what is wrong is a failure.
class Exposition {
 public:
  explicit Exposition(const std::string& text) {
    EXPECT_TRUE(text.empty() || text.back() == '\n');
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      SCOPED_TRACE(line);
      if (line.starts_with("# HELP "))
        help(line.substr(7));
      else if (line.starts_with("# TYPE "))
        type(line.substr(7));
      else
        sample(line);
    }
  }

  std::map<std::string, std::vector<Sample>> samples;

 private:
  static bool is_name(const std::string& name) {
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) return false;
    for (char c : name)
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') return false;
    return true;
  }
  void help(const std::string& rest) {
    current_ = rest.substr(0, rest.find(' '));
    EXPECT_TRUE(is_name(current_));
    EXPECT_TRUE(seen_.insert(current_).second) << "a metric stands in one place";
    EXPECT_GT(rest.size(), current_.size() + 1);
  }
  void type(const std::string& rest) {
    EXPECT_THAT(rest, testing::AnyOf(current_ + " gauge", current_ + " counter"));
    EXPECT_EQ(rest.ends_with(" counter"), current_.ends_with("_total"));
  }
  void sample(const std::string& line) {
    const std::size_t end = line.find_first_of("{ ");
    EXPECT_EQ(line.substr(0, end), current_);
    Sample sample;
    std::size_t at = end;
    if (line[at] == '{') at = labels(line, at + 1, sample);
    ASSERT_LT(at, line.size());
    ASSERT_EQ(line[at], ' ');
    char* rest = nullptr;
    sample.value = std::strtod(line.c_str() + at, &rest);
    EXPECT_EQ(*rest, '\0');
    EXPECT_TRUE(distinct_.insert(line.substr(0, at)).second) << "the same labels twice";
    samples[current_].push_back(sample);
  }
  static std::size_t labels(const std::string& line, std::size_t at, Sample& sample) {
    for (;;) {
      const std::size_t equals = line.find("=\"", at);
      const std::string name = line.substr(at, equals - at);
      EXPECT_TRUE(is_name(name)) << name;
      if (equals == std::string::npos) return line.size();
      std::string value;
      for (at = equals + 2; at < line.size() && line[at] != '"'; ++at) {
        if (line[at] == '\\') ++at;
        value += line[at];
      }
      sample.labels[name] = value;
      ++at;
      if (at >= line.size() || line[at] == '}') return at + 1;
      EXPECT_EQ(line[at], ',');
      ++at;
    }
  }

  std::string current_;
  std::set<std::string> seen_;
  std::set<std::string> distinct_;
};

TEST_F(TopoProbe, prometheus_text_is_valid) {
  for (const char* machine : kMachines) {
    SCOPED_TRACE(machine);
    const test::Outcome outcome = run(std::string(machine) + " --format prometheus");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const Exposition exposition(outcome.out);
    EXPECT_EQ(exposition.samples.at("weft_topology_info").size(), 1u);
    EXPECT_EQ(exposition.samples.at("weft_topology_findings").size(), 3u);
  }
}

TEST_F(TopoProbe, prometheus_counts_findings_links_and_devices) {
  const std::string machine = "--model 'packages:2 gpu:4 nic:1 ndr' ";
  const json findings = json::parse(run(machine + "--json").out)["findings"];
  ASSERT_FALSE(findings.empty());
  const test::Outcome outcome = run(machine + "--format prometheus --fail-on info");
  EXPECT_EQ(outcome.exit_code, 1);
  Exposition exposition(outcome.out);
  double told = 0;
  for (Sample& sample : exposition.samples["weft_topology_finding"]) {
    told += sample.value;
    EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [&](const json& finding) {
      return finding["id"] == sample.labels["id"] && finding["severity"] == sample.labels["severity"] &&
             finding["subject"] == sample.labels["subject"];
    })) << sample.labels["id"];
  }
  EXPECT_EQ(told, findings.size());
  EXPECT_NEAR(exposition.samples["weft_pcie_link_bytes_per_second"].at(0).value, 63.02e9, 1e7);
  EXPECT_EQ(exposition.samples["weft_nic_bytes_per_second"].at(0).value, 50e9);
  for (Sample& sample : exposition.samples["weft_topology_devices"])
    EXPECT_EQ(sample.value, sample.labels["kind"] == "gpu"   ? 4
                            : sample.labels["kind"] == "nic" ? 1
                                                             : 2)
        << sample.labels["kind"];
}

TEST_F(TopoProbe, prometheus_has_no_zero_for_what_a_source_does_not_tell) {
  const auto kinds = [&](const std::string& arguments) {
    std::set<std::string> told;
    Exposition exposition(run(arguments + " --format prometheus").out);
    for (Sample& sample : exposition.samples["weft_topology_devices"]) told.insert(sample.labels["kind"]);
    return told;
  };
  const std::set<std::string> nccl = kinds("--from tests/topology/data/rccl-xgmi.xml");
  EXPECT_FALSE(nccl.contains("package"));
  EXPECT_TRUE(nccl.contains("numa") && nccl.contains("gpu"));
  EXPECT_FALSE(kinds("--from tests/topology/data/nvidia-smi-3gpu-2nic.txt").contains("pci_switch"));
  EXPECT_EQ(kinds("--model 'packages:1 gpu:1'").size(), 5u) << "what a model does not have does not exist";
}

TEST_F(TopoProbe, prometheus_labels_of_foreign_names_are_escaped) {
  scratch_.write("/odd.xml",
                 "<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"0000:01:00.0\" class=\"0x020000\"><nic>"
                 "<net name=\"a&quot;} 1 \\&#10;b\" speed=\"1000\"/></nic></pci></cpu></system>");
  Exposition exposition(run("--from " + path("odd.xml") + " --format prometheus").out);
  ASSERT_EQ(exposition.samples["weft_nic_bytes_per_second"].size(), 1u);
  EXPECT_EQ(exposition.samples["weft_nic_bytes_per_second"][0].labels["device"], "a\"} 1 \\-b");
}

TEST_F(TopoProbe, nccl_xml_is_what_nccl_reads) {
  const test::Outcome outcome = run("--model dgx-h100 --format nccl-xml");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(test::nccl_complaint(outcome.out), "");
  EXPECT_THAT(run("--model dgx-h100 --format nccl-xml --nccl-version 2").out, StartsWith("<system version=\"2\">"));
  expect_one_line(run("--from tests/topology/data/nvidia-smi-3gpu-2nic.txt --format nccl-xml"), "has no bus id");
  expect_one_line(run("--model 'dgx-h100 hosts:2' --format nccl-xml"), "describes one host");
  expect_one_line(run("--nccl-version 3"), "--nccl-version");
}

TEST_F(TopoProbe, json_says_what_is_not_known_and_why) {
  const json text = json::parse(run("--from tests/topology/data/nvidia-smi-3gpu-2nic.txt --json").out);
  std::set<std::string> unknown;
  for (const json& one : text["unknown"]) {
    unknown.insert(one["what"].get<std::string>() + " of " + one["subject"].get<std::string>());
    EXPECT_EQ(one["why"], "the text of nvidia-smi topo -m does not tell");
  }
  for (const char* one : {"bus id of gpu0", "pcie link of gpu2", "cores of machine", "packages of machine"})
    EXPECT_TRUE(unknown.contains(one)) << one;
  EXPECT_EQ(json::parse(run("--model dgx-h100 --json").out)["unknown"], json::array());
}

}  // namespace
}  // namespace weft::topology
