// The link of a PCI device as sysfs shows it.
#include "topology/probe/sysfs_pci.hpp"

#include <charconv>

#include "topology/read_file.hpp"

namespace weft::topology {
namespace {

constexpr long long kMaxWidth = 32;
constexpr double kMaxGts = 1024;

std::optional<double> read_speed(const std::string& path) {
  const std::optional<std::string> text = read_attribute(path);
  return text ? parse_link_speed(*text) : std::nullopt;
}

std::optional<int> read_width(const std::string& path) {
  const std::optional<long long> width = read_integer(path);
  if (!width || *width <= 0 || *width > kMaxWidth) return std::nullopt;  // 0: no link; 255 is how a lost device reads
  return static_cast<int>(*width);
}

}  // namespace

std::optional<double> parse_link_speed(std::string_view text) {
  double gts = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), gts);
  if (error != std::errc() || !(gts > 0) || gts > kMaxGts) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (!unit.starts_with(" GT/s")) return std::nullopt;
  return gts;
}

PciLink read_pci_link(const std::string& root, const std::string& bus_id) {
  const std::string folder = root + "/sys/bus/pci/devices/" + bus_id + "/";
  PciLink link;
  link.gts = read_speed(folder + "current_link_speed");
  link.width = read_width(folder + "current_link_width");
  link.max_gts = read_speed(folder + "max_link_speed");
  link.max_width = read_width(folder + "max_link_width");
  return link;
}

}  // namespace weft::topology
