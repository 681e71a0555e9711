// By the device's own link, else by where the class's link leads.
#include "topology/facts/pci_place.hpp"

#include "base/parse.hpp"
#include "topology/text.hpp"

namespace weft::topology {

std::optional<std::string> pci_behind(const Tree& tree, const std::string& path) {
  const std::optional<std::string> device = tree.link_name(path + "/device");
  if (device && is_bus_id(*device)) return device;
  const std::optional<std::string> place = tree.link(path);
  std::optional<std::string> nearest;
  for (const std::string_view part : base::split(place ? std::string_view(*place) : std::string_view(), '/'))
    if (is_bus_id(part)) nearest = part;
  return nearest;
}

}  // namespace weft::topology
