// The statements of a folder of recorded topologies, one <file>.truth.json beside each file: counts, classes, NVLinks,
// places. The folder is not part of the project: WEFT_CORPUS names it, else it is looked for beside the checkout.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/topology/support/corpus.hpp"
#include "topology/locality.hpp"
#include "topology/survey.hpp"

namespace weft::topology {
namespace {

using Json = nlohmann::json;
using std::filesystem::path;

// Counts the statements that hold; names those that do not.
class Statements {
 public:
  void say(const std::string& what, bool holds) {
    ++made_;
    if (!holds) ADD_FAILURE() << what;
  }
  int made() const { return made_; }

 private:
  int made_ = 0;
};

struct Machine {
  Survey survey;
  std::vector<int> gpus;
  std::vector<int> nics;

  const Node& node(int id) const { return survey.graph.nodes[static_cast<std::size_t>(id)]; }
  std::optional<int> at(const std::string& bus_id) const {
    for (const Node& node : survey.graph.nodes)
      if (node.bus_id == bus_id) return node.id;
    return std::nullopt;
  }
};

std::optional<Machine> load_machine(const path& file) {
  Result<Survey> survey = load_survey(file.string());
  if (!survey) return std::nullopt;
  Machine machine{std::move(survey).value(), {}, {}};
  machine.gpus = machine.survey.graph.ids(NodeKind::Gpu);
  machine.nics = machine.survey.graph.ids(NodeKind::Nic);
  return machine;
}

void check_counts(const Machine& machine, const Json& counts, Statements& statements) {
  const auto count = [&](NodeKind kind) { return machine.survey.graph.ids(kind).size(); };
  const auto same = [&](const char* name, std::size_t found) {
    if (counts.contains(name) && counts[name].is_number())
      statements.say(fmt::format("{}: {}, not {}", name, counts[name].dump(), found), counts[name] == found);
  };
  same("packages", count(NodeKind::Package));
  same("numa_nodes", count(NodeKind::Numa));
  same("gpu_columns", machine.gpus.size());
  if (counts.contains("cores") && machine.survey.graph.nodes[0].cores)
    same("cores", static_cast<std::size_t>(*machine.survey.graph.nodes[0].cores));
}

// hwloc and NCCL: devices by bus id.
void check_devices(const Machine& machine, const Json& devices, NodeKind kind, Statements& statements) {
  for (const Json& device : devices) {
    if (!device.contains("busid") || !device["busid"].is_string()) continue;
    const std::string bus_id = device["busid"];
    const std::optional<int> id = machine.at(bus_id);
    statements.say(bus_id + " is there", id && machine.node(*id).kind == kind);
    for (const char* name : {"id", "device"})
      if (id && device.contains(name) && device[name].is_string() && !device[name].get<std::string>().empty())
        statements.say(bus_id + " is a " + device[name].get<std::string>(), machine.node(*id).device == device[name]);
  }
}

// nvidia-smi: classes by position.
void check_classes(const Machine& machine, const Json& rows, const std::vector<int>& from, const std::vector<int>& to,
                   Statements& statements) {
  for (std::size_t r = 0; rows.is_array() && r < rows.size() && r < from.size(); ++r)
    for (std::size_t c = 0; rows[r].is_array() && c < rows[r].size() && c < to.size(); ++c) {
      if (!rows[r][c].is_string()) continue;
      const std::string word = rows[r][c];
      const Path found = machine.survey.graph.best_path(from[r], to[c]);
      const bool nvlink = word.starts_with("NV");
      const std::string_view expected = word == "X" ? "LOC" : nvlink ? "NVL" : std::string_view(word);
      statements.say(fmt::format("{} to {} is {}, not {}", machine.node(from[r]).name, machine.node(to[c]).name, word,
                                 to_string(found.path_class)),
                     to_string(found.path_class) == expected);
    }
}

void check_file(const path& file, const Json& truth, Statements& statements) {
  SCOPED_TRACE(file.filename().string());
  const std::optional<Machine> machine = load_machine(file);
  const bool whole = !truth.contains("well_formed") || truth["well_formed"] != false;
  if (!machine) return statements.say("is read", !whole);
  statements.say("is sound", machine->survey.graph.check().ok());
  if (truth.contains("counts")) check_counts(*machine, truth["counts"], statements);
  if (truth.contains("gpus")) check_devices(*machine, truth["gpus"], NodeKind::Gpu, statements);
  if (truth.contains("nics")) check_devices(*machine, truth["nics"], NodeKind::Nic, statements);
  if (truth.contains("gpu_gpu")) check_classes(*machine, truth["gpu_gpu"], machine->gpus, machine->gpus, statements);
  if (truth.contains("gpu_nic")) check_classes(*machine, truth["gpu_nic"], machine->gpus, machine->nics, statements);
}

bool is_read(const std::string& format) {
  for (const char* kind :
       {"hwloc XML", "NCCL topology XML", "RCCL topology XML", "nvidia-smi topo", "rocm-smi --showtopo", "sysfs"})
    if (format.starts_with(kind)) return true;
  return false;
}

TEST(Corpus, statements_of_recorded_topologies_hold) {
  const std::optional<path> folder = test::corpus_folder();
  if (!folder) GTEST_SKIP() << "there is no folder of recorded topologies; WEFT_CORPUS can name one";
  constexpr std::string_view kTruth = ".truth.json";
  Statements statements;
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(*folder)) {
    const std::string name = entry.path().string();
    if (!name.ends_with(kTruth)) continue;
    std::ifstream in(entry.path());
    const Json truth = Json::parse(in);
    const path file = name.substr(0, name.size() - kTruth.size());
    if (!is_read(truth.value("format", "")) || !std::filesystem::exists(file)) continue;
    ++files;
    check_file(file, truth, statements);
  }
  std::printf("%d statements on %d files\n", statements.made(), files);
  EXPECT_GT(files, 0);
  EXPECT_GT(statements.made(), 10 * files);  // each says more than that it is read
}

}  // namespace
}  // namespace weft::topology
