// Facts as a flat table.
#include "topology/diff/flat_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "topology/facts/fields.hpp"

namespace weft::topology {
namespace {

using Table = std::map<std::string, std::string>;

// Not a difference between two looks at one machine.
constexpr std::string_view kPassing[] = {
    "resident",
    "errors",
    "correctable_errors",
    "nonfatal_errors",
    "fatal_errors",
    "power_state",
    "fabric_manager_start_s",
    "fabric_registered_s",
    "bus_id",
    "node",
    "iommu_group",
    "physical_function",
    "numa",
    "index",
    "devices",
    "remote_bus_id",
    "allowed_cpus",
    "lid",
    "clock_mhz",
};

bool is_passing(std::string_view name) {
  return std::find(std::begin(kPassing), std::end(kPassing), name) != std::end(kPassing);
}

template <typename T>
std::string key_of(const T& element) {
  if constexpr (requires { element.name; })
    return element.name;
  else if constexpr (requires { element.number; })
    return fmt::format("{}", element.number);
  else if constexpr (requires { element.bus_id; })
    return element.bus_id;
  else if constexpr (requires { element.index; })
    return fmt::format("{}", element.index);
  else
    return fmt::format("{}", element.numa);
}

template <typename T>
void flatten(const std::string& name, const T& value, Table& table);
template <typename T>
void flatten(const std::string& name, const std::optional<T>& value, Table& table);
template <typename T>
void flatten(const std::string& name, const std::vector<T>& list, Table& table);

template <typename T>
void flatten(const std::string& name, const std::optional<T>& value, Table& table) {
  if (value) flatten(name, *value, table);
}

template <typename T>
void flatten(const std::string& name, const std::vector<T>& list, Table& table) {
  if constexpr (std::same_as<T, std::string>) {
    std::vector<std::string> sorted = list;
    std::sort(sorted.begin(), sorted.end());
    table[name] = fmt::format("{}", fmt::join(sorted, " "));
  } else {
    for (const T& element : list) flatten(fmt::format("{}[{}]", name, key_of(element)), element, table);
  }
}

template <typename T>
void flatten(const std::string& name, const T& value, Table& table) {
  if constexpr (std::same_as<T, bool>) {
    table[name] = value ? "yes" : "no";
  } else if constexpr (std::same_as<T, std::string> || std::is_arithmetic_v<T>) {
    table[name] = fmt::format("{}", value);
  } else {
    visit_fields(value, [&](std::string_view field, const auto& member) {
      if (!is_passing(field))
        flatten(name.empty() ? std::string(field) : fmt::format("{}.{}", name, field), member, table);
    });
  }
}

}  // namespace

std::map<std::string, std::string> flat_facts(const HostFacts& host) {
  Table table;
  flatten("", host, table);
  return table;
}

std::map<std::string, std::string> flat_facts(const DeviceFacts& device) {
  Table table;
  flatten("", device, table);
  return table;
}

}  // namespace weft::topology
