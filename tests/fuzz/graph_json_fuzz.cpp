// Fuzz target: any bytes as topology JSON. Either they are refused as Corrupt, or they are a sound graph that reads
// back equal and on which all graph functions keep their promises.
//
// With libFuzzer: tools/fuzz graph_json. Without it, topology.graph_json_fuzz_test runs seeds and seeded mutations
// through it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "weft/graph.hpp"

namespace {

// A property that does not hold ends the process: that is what fuzzers look for.
void require(bool holds) {
  if (!holds) std::abort();
}

void use(const weft::topology::Graph& graph) {
  using namespace weft::topology;
  constexpr std::size_t kMaxNodes = 64;  // keeps one input cheap
  require(!fingerprint(graph).empty());
  if (graph.nodes.size() > kMaxNodes) return;
  std::vector<int> all;
  for (const Node& node : graph.nodes) all.push_back(node.id);
  for (const Path& path : graph.best_paths(0, all)) require(path.hops.empty() || path.bandwidth_gbs > 0);
  if (const auto placement = place(graph, 4)) require(make_group(graph, *placement).size == 4);
  const auto pair = merge({graph, graph});
  require(pair.has_value() && pair->check().ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  const std::string_view text(reinterpret_cast<const char*>(data), bytes);
  const auto graph = weft::topology::from_json(text);
  if (!graph) {
    require(graph.error().code() == weft::Code::Corrupt && !graph.error().message().empty());
    return 0;
  }
  require(graph->check().ok());
  const auto again = weft::topology::from_json(weft::topology::to_json(*graph));
  require(again.has_value() && *again == *graph);
  use(*graph);
  return 0;
}
