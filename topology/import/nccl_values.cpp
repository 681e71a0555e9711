// The values of NCCL's attributes.
#include "topology/import/nccl_values.hpp"
#include "topology/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <vector>

namespace weft::topology::nccl {
namespace {

constexpr std::size_t kMaxMaskWords = 1024;  // of 32 CPUs
constexpr int kBitsInWord = 32;
constexpr double kMaxGts = 1024;
constexpr int kMaxLanes = 64;

std::optional<std::vector<std::uint32_t>> mask_words(std::string_view mask) {
  std::vector<std::uint32_t> words;
  for (;;) {
    const std::size_t comma = std::min(mask.find(','), mask.size());
    const std::optional<std::uint32_t> word = parse_whole<std::uint32_t>(trim(mask.substr(0, comma)), 16);
    if (!word || words.size() == kMaxMaskWords) return std::nullopt;
    words.push_back(*word);
    if (comma == mask.size()) break;
    mask.remove_prefix(comma + 1);
  }
  std::reverse(words.begin(), words.end());  // the most significant comes first
  return words;
}

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
  const std::optional<long long> width = integer(pci, "link_width");
  if (width && *width > 0 && *width <= kMaxLanes) link.width = static_cast<int>(*width);
  return link;
}

std::optional<std::string> cpus_of_mask(std::string_view mask) {
  const std::optional<std::vector<std::uint32_t>> words = mask_words(mask);
  if (!words) return std::nullopt;
  const int bits = static_cast<int>(words->size()) * kBitsInWord;
  const auto is_set = [&](int cpu) {
    return cpu < bits && (((*words)[static_cast<std::size_t>(cpu / kBitsInWord)] >> (cpu % kBitsInWord)) & 1U) != 0;
  };
  std::string list;
  for (int cpu = 0; cpu < bits; ++cpu) {
    if (!is_set(cpu)) continue;
    const int first = cpu;
    while (is_set(cpu + 1)) ++cpu;
    list += list.empty() ? "" : ",";
    list += first == cpu ? fmt::format("{}", first) : fmt::format("{}-{}", first, cpu);
  }
  return list;
}

}  // namespace weft::topology::nccl
