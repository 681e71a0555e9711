// Finds what stands where NCCL does not look, or is named as it names nothing.
#include "topology/import/nccl_left_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <map>
#include <string>

#include "base/plural.hpp"
#include "topology/import/xml_document.hpp"

namespace weft::topology::nccl {
namespace {

constexpr std::string_view kNames[] = {"cpu", "pci", "gpu", "nic", "net", "nvlink", "xgmi", "c2c"};

bool is_known(std::string_view name) {
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

std::string lower(std::string_view name) {
  std::string text(name);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Elements of one name: how many, and the first.
struct Found {
  std::size_t count = 0;
  pugi::xml_node first;
};
using FoundNames = std::map<std::string, Found>;

void add(const pugi::xml_node& element, FoundNames& found) {
  Found& of_name = found[element.name()];
  if (of_name.count++ == 0) of_name.first = element;
}

void find_misspelt(const pugi::xml_node& element, FoundNames& found) {
  for (const pugi::xml_node& child : element.children()) {
    if (const std::string_view name = child.name(); !is_known(name) && is_known(lower(name))) add(child, found);
    find_misspelt(child, found);
  }
}

}  // namespace

void tell_of_left_out(std::string_view text, const pugi::xml_node& system, Remarks& remarks) {
  FoundNames misspelt;
  find_misspelt(system, misspelt);
  for (const auto& [name, found] : misspelt)
    remarks.incomplete(
        line_of(text, found.first),
        fmt::format("<{}>: {} of this name not read, nor what is in {}: NCCL writes <{}>", name,
                    base::plural(found.count, "element"), found.count == 1 ? "it" : "them", lower(name)));
  FoundNames outside;
  for (const pugi::xml_node& child : system.children())
    if (const std::string_view name = child.name(); is_known(name) && name != "cpu") add(child, outside);
  for (const auto& [name, found] : outside)
    remarks.incomplete(line_of(text, found.first),
                       fmt::format("<{}>: {} outside any <cpu> not read, nor what is in {}", name,
                                   base::plural(found.count, "element"), found.count == 1 ? "it" : "them"));
}

}  // namespace weft::topology::nccl
