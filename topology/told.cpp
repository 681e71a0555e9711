// What the readers of each dialect leave unknown (docs/topology.md), read off the survey.
#include "topology/told.hpp"

#include <algorithm>

#include "topology/device_facts.hpp"
#include "topology/sources.hpp"

namespace weft::topology {
namespace {

bool has_unknown_devices(const Survey& survey) {
  return survey.nccl_version && std::any_of(survey.remarks.begin(), survey.remarks.end(), [](const Remark& remark) {
           return remark.evidence.find(kDevicesUnknown) != std::string::npos;
         });
}

// hwloc XML without any device was written without them (lstopo --no-io); every machine has some.
bool leaves_out_devices(const Survey& survey, int host) {
  const auto is_device = [host](const Node& node) {
    const bool is_of_pci = node.kind == NodeKind::PciBridge || node.kind == NodeKind::PciSwitch;
    const bool is_device = node.kind == NodeKind::Gpu || node.kind == NodeKind::Nic || node.kind == NodeKind::Storage;
    return node.host == host && (is_of_pci || is_device);
  };
  return survey.source.starts_with(kHwlocXml) &&
         std::none_of(survey.graph.nodes.begin(), survey.graph.nodes.end(), is_device);
}

// A pair is stated at most once.
bool states_all_pairs(const Graph& graph, const std::vector<int>& gpus) {
  const auto is_gpu = [&](int id) { return std::binary_search(gpus.begin(), gpus.end(), id); };
  const auto stated = std::count_if(graph.stated.begin(), graph.stated.end(), [&](const StatedClass& one) {
    return one.path_class < PathClass::Unknown && is_gpu(one.a) && is_gpu(one.b);
  });
  return gpus.size() > 1 && static_cast<std::size_t>(stated) == gpus.size() * (gpus.size() - 1) / 2;
}

}  // namespace

bool tells_gpus(const Survey& survey, const Locality&, int host) {
  return !has_unknown_devices(survey) && !leaves_out_devices(survey, host);
}

bool tells_nics(const Survey& survey, const Locality& locality, int host) {
  if (!tells_gpus(survey, locality, host) || survey.source == kRocmSmi) return false;
  if (survey.source != kNvidiaSmi || !locality.nics(host).empty()) return true;
  return std::any_of(survey.graph.stated.begin(), survey.graph.stated.end(),
                     [](const StatedClass& one) { return one.path_class < PathClass::Unknown; });
}

bool tells_nvlinks(const Survey& survey, const Locality& locality, int host) {
  const std::vector<int>& gpus = locality.gpus(host);
  if (survey.source == kModelSource || states_all_pairs(survey.graph, gpus)) return true;
  const auto facts_of = [&](int gpu) { return device_facts(survey, locality.node(gpu)); };
  if (survey.nccl_version)
    return !gpus.empty() && std::all_of(gpus.begin(), gpus.end(), [&](int gpu) {
      const DeviceFacts* facts = facts_of(gpu);
      return facts != nullptr && facts->sm;
    });
  return std::any_of(gpus.begin(), gpus.end(), [&](int gpu) {
    const DeviceFacts* facts = facts_of(gpu);
    return facts != nullptr && !facts->nvlinks.empty();
  });
}

bool tells_all_numa_nodes(const Survey& survey) { return !survey.nccl_version && survey.graph.stated.empty(); }

}  // namespace weft::topology
