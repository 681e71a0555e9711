// The values of NCCL's attributes: empty, missing and unreadable ones are unknown.
#pragma once

#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "weft/graph.hpp"

namespace weft::topology::nccl {

// Decimal, or hexadecimal behind "0x".
std::optional<long long> integer(const pugi::xml_node& element, const char* name);
// "0000:c1:00.0", lower case with domain; empty if it is no bus id.
std::string bus_id(std::string_view text);
// Class, without its programming interface (0x0302); -1 if unknown.
int pci_class(const pugi::xml_node& pci);
// "10de:2330"; empty if unknown.
std::string device(const pugi::xml_node& pci);
PciLink link(const pugi::xml_node& pci);
// What a <pci> or <net> says of its speed that cannot be: "link_width \"-16\"". Zero and words ("Unknown") say nothing.
std::vector<std::string> senseless_speeds(const pugi::xml_node& element);
// "ffff0000,00000000" -> "48-63"; nothing if it is no mask.
std::optional<std::string> cpus_of_mask(std::string_view mask);

}  // namespace weft::topology::nccl
