// Cards that show as several NICs but have one port.
#include "topology/audit/shared_ports.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>

#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

// Devices without a GUID show zeros.
bool is_told(const std::optional<std::string>& guid) {
  return guid && guid->find_first_not_of("0:x") != std::string::npos;
}

}  // namespace

std::vector<std::vector<int>> shared_ports(const Input& input, int host) {
  constexpr std::size_t kPlace = std::string_view("0000:c1:00").size();
  std::map<std::string, std::vector<int>> cards;
  for (int nic : usable_nics(input, host)) {
    const DeviceFacts* facts = device_facts(input, nic);
    if (facts != nullptr && is_told(facts->system_image_guid) && input.locality.node(nic).bus_id.size() > kPlace)
      cards[*facts->system_image_guid].push_back(nic);
  }
  std::vector<std::vector<int>> shared;
  for (const auto& [guid, nics] : cards) {
    std::set<std::string> places;
    for (int nic : nics) places.insert(input.locality.node(nic).bus_id.substr(0, kPlace));
    if (places.size() > 1) shared.push_back(nics);
  }
  return shared;
}

}  // namespace weft::topology::audit
