// Which GPUs of a host have a fabric NIC near them.
#include "topology/audit/near_nics.hpp"

#include <algorithm>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_answers.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/cpu_set.hpp"
#include "topology/network.hpp"
#include "topology/told.hpp"

namespace weft::topology::audit {
namespace {

bool is_far(PathClass path_class) { return path_class == PathClass::Sys; }

// One socket may have several NUMA nodes: of more than two sockets, or of NUMA nodes without devices, a source without
// packages tells nothing.
bool numas_are_sockets(const Input& input, int host) {
  constexpr int kSecond = 1;
  constexpr int kSecondOfPower = 8;
  const std::vector<int>& numas = input.locality.numas(host);
  if (numas.size() != 2) return false;
  const Node& first = input.locality.node(numas.front());
  const Node& second = input.locality.node(numas.back());
  const int lowest = std::min(first.os_index.value_or(-1), second.os_index.value_or(-1));
  const int highest = std::max(first.os_index.value_or(-1), second.os_index.value_or(-1));
  if (lowest != 0 || (highest != kSecond && highest != kSecondOfPower)) return false;
  const bool tells_cpus = !first.cpus.empty() && !second.cpus.empty() && first.cpus != second.cpus;
  if (highest == kSecondOfPower || !tells_cpus) return true;
  const std::vector<int> cpus = cpus_of(first.cpus + "," + second.cpus);
  return cpus.empty() || (cpus.front() == 0 && cpus.back() + 1 == static_cast<int>(cpus.size()));
}

double fastest_of(const Input& input, const std::vector<int>& nics) {
  double fastest = 0;
  for (int nic : nics) fastest = std::max(fastest, port_gbs(input, nic).value_or(0));
  return fastest;
}

Nearness find_nearness(const Input& input, int host) {
  Nearness near;
  near.nics = usable_nics(input, host);
  const double fastest = fastest_of(input, near.nics);
  std::erase_if(near.nics, [&](int nic) { return is_much_slower(port_gbs(input, nic), fastest); });
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

bool is_fast_enough(const Input& input, const Nearness& near, int nic) {
  return !is_much_slower(port_gbs(input, nic), fastest_of(input, near.nics));
}

int nearest_of(const Input& input, const Nearness& near, int gpu) {
  const auto counts = [&](int nic) { return std::find(near.nics.begin(), near.nics.end(), nic) != near.nics.end(); };
  const std::vector<int> nearest = input.locality.nearest_nics(gpu);
  const auto found = std::find_if(nearest.begin(), nearest.end(), counts);
  if (found != nearest.end()) return *found;
  return *std::min_element(near.nics.begin(), near.nics.end(), [&](int a, int b) {
    return input.locality.device_path(gpu, a).path_class < input.locality.device_path(gpu, b).path_class;
  });
}

std::string pxn_advice(const Input& input, int host, const Nearness& near) {
  for (int far : near.far_gpus)
    for (int gpu : near.near_gpus)
      if (input.locality.device_path(far, gpu).path_class == PathClass::Nvl) return "use PXN (NCCL 2.12 and later)";
  if (tells_nvlinks(input.survey, input.locality, host)) return {};
  return "use PXN (NCCL 2.12 and later) if NVLink or XGMI joins the GPUs";
}

int socket_of(const Input& input, int host, int device) {
  const std::vector<int> numas = input.locality.numa_nodes_of(device);
  if (!input.locality.packages(host).empty()) {
    const int package = ancestor_of(input.graph, device, NodeKind::Package);
    if (package >= 0) return package;
    return numas.empty() ? -1 : ancestor_of(input.graph, numas.front(), NodeKind::Package);
  }
  return numas.size() == 1 && numas_are_sockets(input, host) ? numas.front() : -1;
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
