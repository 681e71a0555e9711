// Look-ups in a host's facts.
#include "topology/facts/facts.hpp"

#include <algorithm>

namespace weft::topology {
namespace {

template <typename T, typename Wanted>
const T* find(const std::vector<T>& list, Wanted wanted) {
  const auto found = std::find_if(list.begin(), list.end(), wanted);
  return found == list.end() ? nullptr : &*found;
}

}  // namespace

const DeviceFacts* HostFacts::device(std::string_view node_or_bus_id) const {
  if (node_or_bus_id.empty()) return nullptr;
  return find(devices,
              [&](const DeviceFacts& one) { return one.node == node_or_bus_id || one.bus_id == node_or_bus_id; });
}

const InterfaceFacts* HostFacts::interface(std::string_view name) const {
  return find(interfaces, [&](const InterfaceFacts& one) { return one.name == name; });
}

std::optional<std::string_view> HostFacts::variable(std::string_view name) const {
  if (!environment) return std::nullopt;
  const Variable* found = find(*environment, [&](const Variable& one) { return one.name == name; });
  if (found == nullptr) return std::nullopt;
  return found->value;
}

}  // namespace weft::topology
