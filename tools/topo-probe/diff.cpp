// topo-probe diff, as text and JSON.
#include "diff.hpp"

#include <fmt/format.h>

#include <map>
#include <string>

#include "base/json_writer.hpp"
#include "base/plural.hpp"
#include "topology/diff/diff.hpp"
#include "topology/survey.hpp"

namespace weft::topo_probe {
namespace {

using base::JsonWriter;
using topology::Change;
using topology::DeviceMatch;
using topology::Node;
using topology::NodeKind;
using topology::Survey;
using topology::SurveyDiff;
using Layout = JsonWriter::Layout;

struct Compared {
  const DiffArguments& arguments;
  const Survey& before;
  const Survey& after;
  const SurveyDiff& diff;

  const Node& before_node(const DeviceMatch& match) const {
    return before.graph.nodes[static_cast<std::size_t>(match.before)];
  }
  const Node& after_node(const DeviceMatch& match) const {
    return after.graph.nodes[static_cast<std::size_t>(match.after)];
  }
};

std::string heading(std::string_view which, const std::string& path, const Survey& survey) {
  return fmt::format("{} {}: {}, {}, {}, {}\n", which, path, survey.source,
                     base::plural(static_cast<std::uint64_t>(survey.graph.hosts()), "host"),
                     base::plural(survey.graph.ids(NodeKind::Gpu).size(), "GPU"),
                     base::plural(survey.graph.ids(NodeKind::Nic).size(), "NIC"));
}

std::string matched_words(const Compared& compared) {
  if (compared.diff.matches.empty()) return {};
  std::map<std::string_view, std::size_t> by;
  for (const DeviceMatch& match : compared.diff.matches) ++by[match.by];
  std::string text = fmt::format("{} matched", base::plural(compared.diff.matches.size(), "device"));
  std::string separator = ": ";
  for (const auto& [how, count] : by) {
    text += fmt::format("{}{} by {}", separator, count, how);
    separator = ", ";
  }
  text += "\n";
  for (const DeviceMatch& match : compared.diff.matches) {
    const std::string& before = compared.before_node(match).bus_id;
    const std::string& after = compared.after_node(match).bus_id;
    if (!before.empty() && !after.empty() && before != after)
      text += fmt::format("  {} at {} is {} at {}\n", compared.before_node(match).name, before,
                          compared.after_node(match).name, after);
  }
  return text;
}

std::string text_of(const Compared& compared) {
  std::string text = heading("before", compared.arguments.before, compared.before) +
                     heading("after ", compared.arguments.after, compared.after) + matched_words(compared);
  for (const Change& change : compared.diff.changes)
    text += fmt::format("{:<8} {}\n", to_string(change.kind), describe(change));
  return text + (compared.diff.changes.empty() ? std::string("no difference in what both know\n")
                                               : base::plural(compared.diff.changes.size(), "difference") + "\n");
}

void write_side(JsonWriter& json, std::string_view name, const std::string& path, const Survey& survey) {
  json.begin_object(name);
  json.member("path", path);
  json.member("source", survey.source);
  json.member("name", survey.graph.name);
  json.end_object();
}

std::string json_of(const Compared& compared) {
  JsonWriter json;
  json.begin_object(Layout::Lines);
  json.member("schema", 1);
  json.member("equal", compared.diff.changes.empty());
  write_side(json, "before", compared.arguments.before, compared.before);
  write_side(json, "after", compared.arguments.after, compared.after);
  json.begin_list("matches", Layout::Lines);
  for (const DeviceMatch& match : compared.diff.matches) {
    json.begin_object();
    json.member("before", compared.before_node(match).name);
    json.member("after", compared.after_node(match).name);
    json.member("by", match.by);
    json.end_object();
  }
  json.end_list();
  json.begin_list("changes", Layout::Lines);
  for (const Change& change : compared.diff.changes) write(json, change);
  json.end_list();
  json.end_object();
  return std::move(json).text();
}

}  // namespace

Result<DiffReport> diff_report(const DiffArguments& arguments) {
  WEFT_TRY_ASSIGN(const Survey before, topology::load_survey(arguments.before));
  WEFT_TRY_ASSIGN(const Survey after, topology::load_survey(arguments.after));
  const SurveyDiff diff = topology::diff_surveys(before, after);
  const Compared compared{arguments, before, after, diff};
  return DiffReport{diff.changes.empty(), arguments.json ? json_of(compared) : text_of(compared)};
}

}  // namespace weft::topo_probe
