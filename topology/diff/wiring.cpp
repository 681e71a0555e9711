// Comparison of what is between devices.
#include "topology/diff/wiring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "topology/device_kinds.hpp"
#include "topology/sources.hpp"

namespace weft::topology {
namespace {

bool tells_device_links(const Side& side, int host) {
  if (side.survey.nccl_version || !side.graph().stated.empty() || side.survey.source == kModelSource) return true;
  const auto& links = side.graph().links;
  const bool any = std::any_of(links.begin(), links.end(), [&](const Link& link) {
    return is_device_link(link.kind) && side.node(link.a).host == host;
  });
  return any || std::any_of(side.locality.gpus(host).begin(), side.locality.gpus(host).end(),
                            [&](int gpu) { return side.facts(gpu) != nullptr && side.facts(gpu)->uuid; });
}

class Wiring {
 public:
  Wiring(const Side& before, const Side& after, const HostMatch& host, const MatchedDevices& devices, SurveyDiff& diff)
      : before_(before), after_(after), host_(host), devices_(devices), diff_(diff) {}

  void compare() {
    compare_switches();
    compare_device_links();
  }

 private:
  void add(ChangeKind kind, std::string subject, std::string what, std::string before, std::string after) {
    diff_.changes.push_back({kind, std::move(subject), std::move(what), std::move(before), std::move(after)});
  }

  // Switches by the matched devices below them, as the first survey calls these.
  std::map<std::set<int>, std::vector<int>> switches(const Side& side, int host, bool is_after) const {
    std::map<int, std::set<int>> below;
    for (const std::vector<int>* ids : {&side.locality.gpus(host), &side.locality.nics(host)})
      for (int id : *ids) {
        const auto found = devices_.after_to_before.find(id);
        if (is_after ? found == devices_.after_to_before.end() : !devices_.before_to_after.contains(id)) continue;
        for (int above = side.node(id).parent; above >= 0; above = side.node(above).parent)
          if (side.node(above).kind == NodeKind::PciSwitch) below[above].insert(is_after ? found->second : id);
      }
    std::map<std::set<int>, std::vector<int>> switches;
    for (const auto& [id, devices] : below) switches[devices].push_back(id);
    return switches;
  }

  void compare_switches() {
    if (!tells_bridges(before_, host_.before) || !tells_bridges(after_, host_.after)) return;
    const auto before = switches(before_, host_.before, false);
    const auto after = switches(after_, host_.after, true);
    const auto rest = [&](const auto& here, const auto& there, const Side& side, ChangeKind kind) {
      for (const auto& [devices, ids] : here) {
        const auto found = there.find(devices);
        const std::size_t known = found == there.end() ? 0 : found->second.size();
        for (std::size_t i = known; i < ids.size(); ++i) {
          std::string words = "above";
          for (int device : devices)
            words += fmt::format("{} {}", words == "above" ? "" : ",", before_.node(device).name);
          add(kind, side.locality.describe(ids[i]), "PCIe switch", kind == ChangeKind::Lost ? words : "",
              kind == ChangeKind::Added ? words : "");
        }
      }
    };
    rest(before, after, before_, ChangeKind::Lost);
    rest(after, before, after_, ChangeKind::Added);
  }

  // Links by kind and ends; -1 is the NVSwitch, or whatever else is no device.
  std::map<std::tuple<LinkKind, int, int>, int> device_links(const Side& side, int host, bool is_after) const {
    std::map<std::tuple<LinkKind, int, int>, int> counts;
    const auto end = [&](int id) {
      const NodeKind kind = side.node(id).kind;
      if (kind != NodeKind::Gpu) return -1;
      if (!is_after) return devices_.before_to_after.contains(id) ? id : -2;
      const auto found = devices_.after_to_before.find(id);
      return found == devices_.after_to_before.end() ? -2 : found->second;
    };
    for (const Link& link : side.graph().links) {
      if (!is_device_link(link.kind) || side.node(link.a).host != host) continue;
      const int a = end(link.a);
      const int b = end(link.b);
      if (a != -2 && b != -2) counts[{link.kind, std::min(a, b), std::max(a, b)}] += link.count;
    }
    return counts;
  }

  void compare_device_links() {
    if (!tells_device_links(before_, host_.before) || !tells_device_links(after_, host_.after)) return;
    const auto before = device_links(before_, host_.before, false);
    const auto after = device_links(after_, host_.after, true);
    const auto number = [](int links) { return links == 0 ? std::string("unknown") : fmt::format("{}", links); };
    const auto subject = [&](int a, int b) {
      return fmt::format("{} to {}", before_.node(b).name, a < 0 ? "switch or CPU" : before_.node(a).name);
    };
    for (const auto& [link, links] : before) {
      const auto& [kind, a, b] = link;
      const auto found = after.find(link);
      const bool lost = found == after.end();
      const int now = lost ? 0 : found->second;
      if (!lost && (now == 0 || links == 0)) continue;  // one side does not know how many
      if ((lost || now != links) && b >= 0)
        add(lost ? ChangeKind::Lost : ChangeKind::Changed, subject(a, b), fmt::format("{} links", to_string(kind)),
            number(links), lost ? "" : fmt::format("{}", now));
    }
    for (const auto& [link, links] : after) {
      const auto& [kind, a, b] = link;
      if (!before.contains(link) && b >= 0)
        add(ChangeKind::Added, subject(a, b), fmt::format("{} links", to_string(kind)), "", number(links));
    }
  }

  const Side& before_;
  const Side& after_;
  const HostMatch host_;
  const MatchedDevices& devices_;
  SurveyDiff& diff_;
};

}  // namespace

MatchedDevices::MatchedDevices(const std::vector<DeviceMatch>& matches) {
  for (const DeviceMatch& match : matches) {
    before_to_after[match.before] = match.after;
    after_to_before[match.after] = match.before;
  }
}

bool tells_bridges(const Side& side, int host) {
  return std::any_of(side.graph().nodes.begin(), side.graph().nodes.end(), [&](const Node& node) {
    return node.host == host && (node.kind == NodeKind::PciBridge || node.kind == NodeKind::PciSwitch);
  });
}

void compare_wiring(const Side& before, const Side& after, const HostMatch& host, const MatchedDevices& devices,
                    SurveyDiff& diff) {
  Wiring(before, after, host, devices, diff).compare();
}

}  // namespace weft::topology
