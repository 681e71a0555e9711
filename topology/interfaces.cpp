// Which network interfaces NCCL would take.
#include "topology/interfaces.hpp"

#include <algorithm>
#include <array>

namespace weft::topology {
namespace {

struct Pattern {
  bool exclude = false;  // "^"
  bool exact = false;    // "="
  std::vector<std::string_view> words;

  bool takes(std::string_view name) const {
    const bool found = std::any_of(words.begin(), words.end(), [&](std::string_view word) {
      return exact ? name == word : name.starts_with(word);
    });
    return found != exclude;
  }
};

Pattern parse_pattern(std::string_view text) {
  Pattern pattern;
  if (text.starts_with('^')) pattern.exclude = true, text.remove_prefix(1);
  if (text.starts_with('=')) pattern.exact = true, text.remove_prefix(1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    if (end > 0) pattern.words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return pattern;
}

bool is_link_local(std::string_view address) {
  return address.starts_with("169.254.") || address.starts_with("fe80:") || address.starts_with("FE80:");
}

bool has_default_route(const InterfaceFacts& interface) { return interface.default_route.value_or(false); }

// Names that container networks give (Docker, Kubernetes' Calico, Cilium, Flannel, CNI, libvirt, AWS' pod identity).
constexpr std::array<std::string_view, 12> kLocalNames = {"docker", "br-",         "veth",         "cali",
                                                          "cni",    "flannel",     "cilium_",      "lxc",
                                                          "virbr",  "pod-id-link", "nodelocaldns", "kube-"};

bool has_local_name(std::string_view name) {
  return std::any_of(kLocalNames.begin(), kLocalNames.end(),
                     [&](std::string_view word) { return name.starts_with(word); });
}

bool has_physical_member(const HostFacts& facts, const InterfaceFacts& bridge) {
  return std::any_of(facts.interfaces.begin(), facts.interfaces.end(), [&](const InterfaceFacts& member) {
    return member.master == bridge.name && (member.kind == "physical" || member.kind == "bond");
  });
}

}  // namespace

bool only_link_local(const InterfaceFacts& interface) {
  return !interface.addresses.empty() &&
         std::all_of(interface.addresses.begin(), interface.addresses.end(), is_link_local);
}

std::string_view leads_nowhere(const HostFacts& facts, const InterfaceFacts& interface) {
  if (interface.kind == "loopback" || interface.name == "lo") return "the loopback interface";
  if (only_link_local(interface)) return "it has link-local addresses only";
  if (has_default_route(interface)) return {};
  if (interface.kind == "bridge" || interface.name.starts_with("br-"))
    return has_physical_member(facts, interface) ? std::string_view() : "a bridge between containers of this host";
  if (interface.kind == "physical" || interface.kind == "bond" || interface.kind == "vlan") return {};
  if (has_local_name(interface.name)) return "it joins containers of this host";
  return {};
}

std::vector<const InterfaceFacts*> socket_interfaces(const HostFacts& facts) {
  const auto taken = [&](const Pattern& pattern) {
    std::vector<const InterfaceFacts*> found;
    for (const InterfaceFacts& one : facts.interfaces)
      if (!one.addresses.empty() && one.state != "down" && pattern.takes(one.name)) found.push_back(&one);
    return found;
  };
  if (const std::optional<std::string_view> set = facts.variable("NCCL_SOCKET_IFNAME"); set && !set->empty())
    return taken(parse_pattern(*set));
  for (std::string_view pattern : {"ib", "^docker,lo", "docker", "lo"})
    if (std::vector<const InterfaceFacts*> found = taken(parse_pattern(pattern)); !found.empty()) return found;
  return {};
}

const InterfaceFacts* leading_out(const HostFacts& facts) {
  const InterfaceFacts* out = nullptr;
  for (const InterfaceFacts& one : facts.interfaces)
    if (has_default_route(one) && one.state != "down" && !only_link_local(one) &&
        (out == nullptr || one.speed_gbs > out->speed_gbs))
      out = &one;
  return out;
}

std::vector<std::string> misleading_interfaces(const HostFacts& facts) {
  std::vector<std::string> names;
  for (const InterfaceFacts& one : facts.interfaces) {
    const bool is_left_out = one.name.starts_with("docker") || one.kind == "loopback" || one.name == "lo";
    const bool is_tried = one.state != "down" && !one.addresses.empty() && !one.master && !is_left_out;
    if (is_tried && !has_default_route(one) && !leads_nowhere(facts, one).empty()) names.push_back(one.name);
  }
  return names;
}

std::string better_interface(const HostFacts& facts) {
  if (const InterfaceFacts* out = leading_out(facts); out != nullptr && !out->addresses.empty()) return out->name;
  for (const InterfaceFacts& one : facts.interfaces)
    if (one.state != "down" && !one.addresses.empty() && leads_nowhere(facts, one).empty()) return one.name;
  return {};
}

}  // namespace weft::topology
