// Fuzz target: any bytes as the text of another program. Either they are refused with one line, or they are a sound
// graph that reads back equal from JSON and has a path between all its devices.
//
// With libFuzzer: tools/fuzz import. Without it, topology.import_fuzz_test runs seeds and seeded mutations through it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "topology/import/import.hpp"
#include "weft/graph.hpp"

namespace {

using weft::Result;
using weft::topology::Graph;
using weft::topology::NodeKind;
using weft::topology::Survey;

// A property that does not hold ends the process: that is what fuzzers look for.
void require(bool holds) {
  if (!holds) std::abort();
}

void use(const Graph& graph) {
  constexpr std::size_t kMaxNodes = 64;  // keeps one input cheap
  require(graph.check().ok());
  const auto again = weft::topology::from_json(to_json(graph));
  require(again.has_value() && *again == graph);
  if (graph.nodes.size() > kMaxNodes) return;
  std::vector<int> devices = graph.ids(NodeKind::Gpu);
  for (int nic : graph.ids(NodeKind::Nic)) devices.push_back(nic);
  if (devices.empty()) return;
  for (const auto& path : graph.best_paths(devices.front(), devices))
    require(path.from == path.to || path.bandwidth_gbs > 0);
  const auto pair = weft::topology::merge({graph, graph});
  require(pair.has_value() && pair->check().ok());
}

void expect_sound(const Result<Survey>& survey) {
  if (survey) {
    weft::base::JsonWriter json;
    json.begin_object();
    write_survey(json, *survey);
    json.end_object();
    const auto again = weft::topology::survey_from_json(std::move(json).text());
    require(again.has_value() && again->hosts == survey->hosts && again->remarks == survey->remarks);
    return use(survey->graph);
  }
  const std::string message(survey.error().message());
  require(message.starts_with("fuzz") && message.find('\n') == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace weft::topology;
  const std::string_view text(reinterpret_cast<const char*>(data), bytes);
  const std::string path = "fuzz";
  if (is_hwloc_xml(text)) expect_sound(read_hwloc_xml(path, text));
  if (is_nccl_xml(text)) expect_sound(read_nccl_xml(path, text));
  if (is_rocm_smi(text)) expect_sound(read_rocm_smi(path, text));
  if (is_nvidia_smi(text)) expect_sound(read_nvidia_smi(path, text));
  return 0;
}
