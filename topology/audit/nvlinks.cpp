// How many NVLinks a GPU has, and how many it should have: as the site says, else by its id, else as most GPUs like it
// on the same host have.
#include "topology/audit/nvlinks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "topology/audit/expected.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/told.hpp"

namespace weft::topology::audit {
namespace {

struct Shown {
  int links = 0;
  bool to_switch = false;
};

// By node: the links that the graph shows of a GPU.
std::vector<Shown> in_graph(const Graph& graph) {
  std::vector<Shown> found(graph.nodes.size());
  const auto kind = [&](int id) { return graph.nodes[static_cast<std::size_t>(id)].kind; };
  for (const Link& link : graph.links) {
    if (link.kind != LinkKind::NvLink) continue;
    for (const auto& [end, other] : {std::pair(link.a, link.b), std::pair(link.b, link.a)}) {
      Shown& shown = found[static_cast<std::size_t>(end)];
      shown.links += link.count;
      shown.to_switch |= kind(other) == NodeKind::NvSwitch;
    }
  }
  return found;
}

void expect_by_id(const Input& input, NvLinks& links) {
  const std::string& device = input.locality.node(links.gpu).device;
  for (const ExpectedLinks& site : input.site.expected.nvlinks)
    if (site.device == device) {
      links.expected = site.nvlinks;
      links.by_site = true;
      links.why = "as the site file says";
      return;
    }
  const std::optional<ExpectedNvLinks> row = expected_nvlinks(device);
  if (!row) return;
  const bool bridged = row->use == NvLinkUse::Bridged && links.active > 0;
  const bool switched = row->use == NvLinkUse::Switched && (links.to_switch || links.told_singly);
  if (!bridged && !switched) return;
  links.expected = row->links;
  links.why = fmt::format("by its id {}", device);
}

// What the facts of the GPU list singly is nearer to the truth than what the graph sums up.
void count_told(const Input& input, NvLinks& links) {
  const DeviceFacts* facts = device_facts(input, links.gpu);
  if (facts == nullptr || facts->nvlinks.empty()) return;
  const auto told = [](const NvLinkFacts& link) { return link.active.has_value(); };
  links.told_singly = std::all_of(facts->nvlinks.begin(), facts->nvlinks.end(), told);
  if (!links.told_singly) return;
  const auto active = [](const NvLinkFacts& link) { return link.active.value_or(false); };
  links.active = static_cast<int>(std::count_if(facts->nvlinks.begin(), facts->nvlinks.end(), active));
}

// Behind a switch all GPUs of a kind have equally many; the most frequent count of at least four counts.
void expect_by_likeness(const Input& input, std::vector<NvLinks>& all) {
  constexpr int kEnoughAlike = 3;
  std::map<std::string, std::map<int, int>> counts;  // by kind of GPU: links -> GPUs
  const auto kind = [&](const NvLinks& links) {
    const Node& gpu = input.locality.node(links.gpu);
    return gpu.device.empty() ? gpu.model : gpu.device;
  };
  const bool any_switch = std::any_of(all.begin(), all.end(), [](const NvLinks& one) { return one.to_switch; });
  if (!any_switch) return;
  for (const NvLinks& links : all) ++counts[kind(links)][links.active];
  for (NvLinks& links : all) {
    if (links.expected) continue;
    const std::map<int, int>& like = counts[kind(links)];
    const auto most =
        std::max_element(like.begin(), like.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most->second < kEnoughAlike || most->first <= links.active) continue;
    links.expected = most->first;
    links.why = fmt::format("as {} GPUs like it", most->second);
  }
}

}  // namespace

std::vector<std::vector<NvLinks>> nvlinks_by_host(const Input& input) {
  const std::vector<Shown> shown = in_graph(input.graph);
  std::vector<std::vector<NvLinks>> hosts;
  for (int host = 0; host < input.hosts(); ++host) {
    std::vector<NvLinks>& all = hosts.emplace_back();
    const bool told = !input.site.expected.nvlinks.empty() && tells_nvlinks(input.survey, input.locality, host);
    for (int gpu : accelerators(input, host)) {
      NvLinks& links = all.emplace_back();
      links.gpu = gpu;
      links.told = told;
      links.active = shown[static_cast<std::size_t>(gpu)].links;
      links.to_switch = shown[static_cast<std::size_t>(gpu)].to_switch;
      count_told(input, links);
      expect_by_id(input, links);
    }
    expect_by_likeness(input, all);
  }
  return hosts;
}

}  // namespace weft::topology::audit
