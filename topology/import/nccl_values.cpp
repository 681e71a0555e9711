// The values of NCCL's attributes.
#include "topology/import/nccl_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <limits>

#include "topology/node_names.hpp"
#include "topology/probe/index_set.hpp"
#include "topology/text.hpp"

namespace weft::topology::nccl {
namespace {

constexpr const char* kLinkWidth = "link_width";
constexpr double kMaxGts = 1024;
constexpr double kMaxLanes = 32;
constexpr double kWidths[] = {0, 1, 2, 4, 8, 12, 16, kMaxLanes};  // that PCIe has; 0: no link
constexpr double kMaxInteger = 9e18;                              // what no port does is judged where its rate is read

// A number at the start of the text ("-16 GT/s"), if there is one.
std::optional<double> number_at_start(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) return std::numeric_limits<double>::infinity();
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

bool is_width(double lanes) { return std::find(std::begin(kWidths), std::end(kWidths), lanes) != std::end(kWidths); }

}  // namespace

std::optional<long long> integer(const pugi::xml_node& element, const char* name) {
  const std::string_view text = trim(element.attribute(name).value());
  if (text.starts_with("0x") || text.starts_with("0X")) return parse_whole<long long>(text.substr(2), 16);
  return parse_whole<long long>(text, 10);
}

std::string bus_id(std::string_view text) {
  std::string id(trim(text));
  std::transform(id.begin(), id.end(), id.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (std::count(id.begin(), id.end(), ':') == 1) id = "0000:" + id;
  const auto is_part = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0 || c == ':' || c == '.'; };
  constexpr std::size_t kMaxBytes = 16;
  const bool sound = id.size() <= kMaxBytes && std::all_of(id.begin(), id.end(), is_part) &&
                     std::count(id.begin(), id.end(), ':') == 2 && std::count(id.begin(), id.end(), '.') == 1;
  return sound ? id : std::string();
}

int pci_class(const pugi::xml_node& pci) {
  const std::optional<long long> value = integer(pci, "class");
  return value && *value >= 0 && *value <= 0xffffff ? static_cast<int>(*value >> 8) : -1;
}

std::string device(const pugi::xml_node& pci) {
  const std::optional<long long> vendor = integer(pci, "vendor");
  const std::optional<long long> device = integer(pci, "device");
  const auto is_id = [](const std::optional<long long>& id) { return id && *id >= 0 && *id <= 0xffff; };
  return is_id(vendor) && is_id(device) ? fmt::format("{:04x}:{:04x}", *vendor, *device) : std::string();
}

PciLink link(const pugi::xml_node& pci) {
  PciLink link;
  const std::string_view speed = trim(pci.attribute("link_speed").value());  // "16 GT/s", "16.0 GT/s PCIe"
  double gts = 0;
  const auto [end, error] = std::from_chars(speed.data(), speed.data() + speed.size(), gts);
  if (error == std::errc() && gts > 0 && gts <= kMaxGts) link.gts = gts;
  const std::optional<long long> width = integer(pci, kLinkWidth);
  if (width && *width > 0 && is_width(static_cast<double>(*width))) link.width = static_cast<int>(*width);
  return link;
}

std::vector<std::string> senseless_speeds(const pugi::xml_node& element) {
  struct Bound {
    const char* element;
    const char* attribute;
    double most;
  };
  constexpr Bound kBounds[] = {
      {"pci", "link_speed", kMaxGts}, {"pci", kLinkWidth, kMaxLanes}, {"net", "speed", kMaxInteger}};
  constexpr std::size_t kShownBytes = 32;
  std::vector<std::string> found;
  for (const Bound& bound : kBounds) {
    if (std::string_view(element.name()) != bound.element) continue;
    const std::string_view text = trim(element.attribute(bound.attribute).value());
    const std::optional<double> number = number_at_start(text);
    const bool is_lanes = std::string_view(bound.attribute) == kLinkWidth;
    if (number && (!(*number >= 0 && *number <= bound.most) || (is_lanes && !is_width(*number))))
      found.push_back(fmt::format("{} \"{}\"", bound.attribute, as_plain_text(text.substr(0, kShownBytes))));
  }
  return found;
}

std::optional<std::string> cpus_of_mask(std::string_view mask) {
  const std::optional<IndexSet> cpus = IndexSet::parse_mask(trim(mask));
  return cpus ? std::optional(cpus->list()) : std::nullopt;
}

}  // namespace weft::topology::nccl
