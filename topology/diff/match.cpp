// Matching of hosts and devices.
#include "topology/diff/match.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "topology/guid.hpp"

namespace weft::topology {
namespace {

using Key = std::function<std::string(const Side&, int)>;

Key fact_key(std::optional<std::string> DeviceFacts::*fact) {
  return [fact](const Side& side, int id) {
    const DeviceFacts* facts = side.facts(id);
    return facts != nullptr && facts->*fact ? bare_digits(*(facts->*fact)) : std::string();
  };
}

std::string bus_id_of(const Side& side, int id) { return side.node(id).bus_id; }

// How a device stands among the others of its host, in words that do not depend on names and numbers.
std::string structure_of(const Side& side, int id) {
  const Node& node = side.node(id);
  std::vector<int> others = side.locality.gpus(node.host);
  others.insert(others.end(), side.locality.nics(node.host).begin(), side.locality.nics(node.host).end());
  std::map<std::string, int> near;
  for (const Path& path : side.locality.finder().best_paths(id, others))
    ++near[fmt::format("{} {} {}", side.node(path.to).device, to_string(side.node(path.to).kind),
                       to_string(path.path_class))];
  std::string words = node.device;
  for (const auto& [word, count] : near) words += fmt::format("|{} {}", count, word);
  return words;
}

std::string device_id_of(const Side& side, int id) { return side.node(id).device; }

class Matcher {
 public:
  Matcher(const Side& before, const Side& after, Relation relation, std::vector<DeviceMatch>& matches)
      : before_(before), after_(after), relation_(relation), matches_(matches) {}

  void match(std::vector<int> before, std::vector<int> after) {
    before_left_ = std::move(before);
    after_left_ = std::move(after);
    const std::size_t first = matches_.size();
    if (relation_ == Relation::Same) by_identity();
    if (buses_stayed()) by_unique("bus id", bus_id_of);
    in_order("structure", structure_of);
    in_order("order", device_id_of);
    // Where a source has no ids of devices.
    in_order(
        "order", [](const Side&, int) { return std::string("any"); }, true);
    std::sort(matches_.begin() + static_cast<std::ptrdiff_t>(first), matches_.end(),
              [](const DeviceMatch& a, const DeviceMatch& b) { return a.before < b.before; });
  }

 private:
  // What stays with a device.
  void by_identity() {
    by_unique("uuid", fact_key(&DeviceFacts::uuid));
    by_unique("guid", fact_key(&DeviceFacts::guid));
    by_unique("mac", fact_key(&DeviceFacts::mac));
    by_unique("serial", [](const Side& side, int id) {
      const DeviceFacts* facts = side.facts(id);
      return facts != nullptr ? facts->serial.value_or("") : "";
    });
    by_unique("card", fact_key(&DeviceFacts::system_image_guid));
  }

  void take(int before, int after, std::string_view by) {
    matches_.push_back({before, after, by});
    std::erase(before_left_, before);
    std::erase(after_left_, after);
  }

  // What both know and have but once.
  void by_unique(std::string_view by, const Key& key) {
    const auto unique = [&](const Side& side, const std::vector<int>& ids) {
      std::map<std::string, std::vector<int>> all;
      for (int id : ids)
        if (std::string of_it = key(side, id); !of_it.empty()) all[std::move(of_it)].push_back(id);
      std::erase_if(all, [](const auto& entry) { return entry.second.size() != 1; });
      return all;
    };
    const auto after = unique(after_, after_left_);
    for (const auto& [of_it, ids] : unique(before_, before_left_))
      if (const auto found = after.find(of_it); found != after.end()) take(ids.front(), found->second.front(), by);
  }

  // Like ones in their order. `either`: a device without id may be any, but one with an id is not another's.
  void in_order(std::string_view by, const Key& key, bool either = false) {
    std::map<std::string, std::vector<int>> after;  // those left, by key
    for (int id : after_left_) after[key(after_, id)].push_back(id);
    for (int before : std::vector<int>(before_left_)) {
      const auto found = after.find(key(before_, before));
      if (found == after.end()) continue;
      const std::string& a = before_.node(before).device;
      const auto same = std::find_if(found->second.begin(), found->second.end(), [&](int id) {
        const std::string& b = after_.node(id).device;
        return a == b || (either && (a.empty() || b.empty()));
      });
      if (same == found->second.end()) continue;
      take(before, *same, by);
      found->second.erase(same);
    }
  }

  // Whether the devices of the poorer side are all at buses of the richer one, so that nobody renumbered them.
  bool buses_stayed() const {
    const auto buses = [](const Side& side, const std::vector<int>& ids) {
      std::set<std::string> all;
      for (int id : ids) all.insert(side.node(id).bus_id);
      return all;
    };
    std::set<std::string> few = buses(before_, before_left_);
    std::set<std::string> many = buses(after_, after_left_);
    if (few.size() > many.size()) few.swap(many);
    return !few.contains("") && std::includes(many.begin(), many.end(), few.begin(), few.end());
  }

  const Side& before_;
  const Side& after_;
  const Relation relation_;
  std::vector<DeviceMatch>& matches_;
  std::vector<int> before_left_;
  std::vector<int> after_left_;
};

std::string host_name(const Side& side, int host) {
  if (const auto& name = side.survey.facts(host).hostname) return *name;
  return side.node(side.locality.machine(host)).name;
}

}  // namespace

std::vector<HostMatch> match_hosts(const Side& before, const Side& after) {
  std::map<std::string, int> by_name;
  for (int host = 0; host < after.locality.hosts(); ++host) by_name.emplace(host_name(after, host), host);
  std::vector<HostMatch> matches;
  std::set<int> taken;
  std::vector<int> left;
  for (int host = 0; host < before.locality.hosts(); ++host) {
    const auto found = by_name.find(host_name(before, host));
    if (found != by_name.end() && taken.insert(found->second).second)
      matches.push_back({host, found->second});
    else
      left.push_back(host);
  }
  int next = 0;
  for (int host : left) {
    while (taken.contains(next)) ++next;
    if (next >= after.locality.hosts()) break;
    taken.insert(next);
    matches.push_back({host, next});
  }
  std::sort(matches.begin(), matches.end(), [](const auto& a, const auto& b) { return a.before < b.before; });
  return matches;
}

bool compares_storage(const Side& before, const Side& after, const HostMatch& host, Relation relation) {
  return relation == Relation::Same && !before.locality.storage(host.before).empty() &&
         !after.locality.storage(host.after).empty();
}

std::vector<DeviceMatch> match_devices(const Side& before, const Side& after, const std::vector<HostMatch>& hosts,
                                       Relation relation) {
  std::vector<DeviceMatch> matches;
  Matcher matcher(before, after, relation, matches);
  for (const HostMatch& host : hosts) {
    matcher.match(before.locality.gpus(host.before), after.locality.gpus(host.after));
    matcher.match(before.locality.nics(host.before), after.locality.nics(host.after));
    if (compares_storage(before, after, host, relation))
      matcher.match(before.locality.storage(host.before), after.locality.storage(host.after));
  }
  return matches;
}

}  // namespace weft::topology
