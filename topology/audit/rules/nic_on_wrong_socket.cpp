// nic-on-wrong-socket: a fabric NIC with no GPU near it, while some GPU has no NIC near: the card is in the wrong slot.
#include <fmt/format.h>

#include "topology/audit/audit.hpp"
#include "topology/locality.hpp"

namespace weft::topology::audit {
namespace {

struct Far {
  std::vector<int> nics;
  std::vector<int> gpus;
};

// Fabric NICs to which all GPUs are far, and GPUs to which all of them are far. What is not known is not called far.
Far far_devices(Locality& locality, int host) {
  Far far;
  std::vector<int> nics;
  for (int nic : locality.nics(host))
    if (locality.node(nic).fabric && locality.node(nic).active.value_or(true)) nics.push_back(nic);
  std::vector<bool> near(nics.size(), false);
  for (int gpu : locality.gpus(host)) {
    bool any = false;
    const std::vector<Path> paths = locality.finder().best_paths(gpu, nics);
    for (std::size_t i = 0; i < nics.size(); ++i)
      if (paths[i].path_class < PathClass::Sys || paths[i].path_class == PathClass::Unknown) near[i] = any = true;
    if (!any) far.gpus.push_back(gpu);
  }
  for (std::size_t i = 0; i < nics.size(); ++i)
    if (!near[i]) far.nics.push_back(nics[i]);
  return far;
}

void check(const Rule& self, const Input& input, Report& report) {
  Locality& locality = input.locality;
  for (int host = 0; host < locality.hosts(); ++host) {
    const Far far = far_devices(locality, host);
    if (far.gpus.empty()) continue;
    for (int nic : far.nics)
      report.add(self, locality.describe(nic),
                 fmt::format("no GPU is on its NUMA node, and {} of {} GPUs (the first: {}) have no NIC on theirs",
                             far.gpus.size(), locality.gpus(host).size(), locality.describe(far.gpus.front())));
  }
}

}  // namespace

extern const Rule nic_on_wrong_socket;
const Rule nic_on_wrong_socket = {"nic-on-wrong-socket", Severity::Warning,
                                  "a fabric NIC is far from all GPUs while GPUs lack one",
                                  "move the card to a slot of the GPUs' socket", check};

}  // namespace weft::topology::audit
