// Words for the enumerations of a graph.
#include "topology/names.hpp"

#include <array>
#include <cstddef>

namespace weft::topology {
namespace {

constexpr std::array<std::string_view, 11> kNodeKinds = {"machine",    "package",        "numa",   "core_group",
                                                         "pci_bridge", "pci_switch",     "gpu",    "nic",
                                                         "nv_switch",  "network_switch", "storage"};
constexpr std::array<std::string_view, 7> kLinkKinds = {"internal", "cpu_socket", "pci",    "nvlink",
                                                        "xgmi",     "c2c",        "network"};
constexpr std::array<std::string_view, 10> kPathClasses = {"LOC",  "NVL", "PIX",     "PXB", "PHB",
                                                           "NODE", "SYS", "UNKNOWN", "NET", "NONE"};

template <typename Kind, std::size_t N>
std::string_view word(const std::array<std::string_view, N>& table, Kind kind) {
  const auto index = static_cast<std::size_t>(kind);
  return index < N ? table[index] : "unknown";
}

template <typename Kind, std::size_t N>
std::optional<Kind> parse(const std::array<std::string_view, N>& table, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i)
    if (table[i] == name) return static_cast<Kind>(i);
  return std::nullopt;
}

}  // namespace

std::string_view to_string(NodeKind kind) { return word(kNodeKinds, kind); }
std::string_view to_string(LinkKind kind) { return word(kLinkKinds, kind); }
std::string_view to_string(PathClass path_class) { return word(kPathClasses, path_class); }

std::optional<NodeKind> parse_node_kind(std::string_view name) { return parse<NodeKind>(kNodeKinds, name); }
std::optional<LinkKind> parse_link_kind(std::string_view name) { return parse<LinkKind>(kLinkKinds, name); }
std::optional<PathClass> parse_path_class(std::string_view name) { return parse<PathClass>(kPathClasses, name); }

}  // namespace weft::topology
