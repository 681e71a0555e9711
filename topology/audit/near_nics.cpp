// Which GPUs of a host have a fabric NIC near them.
#include "topology/audit/near_nics.hpp"

#include <algorithm>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_answers.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

bool is_far(PathClass path_class) { return path_class == PathClass::Sys; }

// The package of a device, or its NUMA node where there are two and no packages; -1 if neither is known.
int socket_of(const Input& input, int host, int device) {
  if (!input.locality.packages(host).empty()) {
    const int package = ancestor_of(input.graph, device, NodeKind::Package);
    if (package >= 0) return package;
    const std::vector<int> numas = input.locality.numa_nodes_of(device);
    return numas.empty() ? -1 : ancestor_of(input.graph, numas.front(), NodeKind::Package);
  }
  const std::vector<int> numas = input.locality.numa_nodes_of(device);
  return numas.size() == 1 && input.locality.numas(host).size() == 2 ? numas.front() : -1;
}

Nearness find_nearness(const Input& input, int host) {
  Nearness near;
  near.nics = usable_nics(input, host);
  if (near.nics.empty()) return near;
  std::vector<bool> far(near.nics.size(), true);
  for (int gpu : accelerators(input, host)) {
    bool all_far = true;
    for (std::size_t i = 0; i < near.nics.size(); ++i)
      if (!is_far(input.locality.device_path(gpu, near.nics[i]).path_class)) far[i] = all_far = false;
    (all_far ? near.far_gpus : near.near_gpus).push_back(gpu);
  }
  for (std::size_t i = 0; i < far.size(); ++i)
    if (far[i]) near.far_nics.push_back(near.nics[i]);
  return near;
}

}  // namespace

const Nearness& nearness(const Input& input, int host) {
  return HostAnswers::once(input.answers[static_cast<std::size_t>(host)].nearness,
                           [&] { return find_nearness(input, host); });
}

std::map<int, std::vector<int>> sockets_without_nic(const Input& input, int host, const Nearness& near) {
  std::map<int, std::vector<int>> sockets;
  for (int gpu : near.far_gpus)
    if (const int socket = socket_of(input, host, gpu); socket >= 0) sockets[socket].push_back(gpu);
  for (const std::vector<int>& served : {near.near_gpus, near.nics})
    for (int device : served) sockets.erase(socket_of(input, host, device));
  return sockets;
}

}  // namespace weft::topology::audit
