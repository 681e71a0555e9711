// How near the devices of matched hosts are to each other on PCIe, before and after.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "topology/diff/match.hpp"
#include "topology/path_finder.hpp"

namespace weft::topology {

class ClassComparison {
 public:
  // Told once for all pairs of devices that changed alike: the first pair, what it is, and the two classes.
  using Tell = std::function<void(std::string subject, std::string what, std::string before, std::string after)>;

  // Both must outlive it.
  ClassComparison(const Side& before, const Side& after) : before_(before), after_(after) {}

  // `before_to_after`: the matched devices.
  void compare(const HostMatch& host, const std::map<int, int>& before_to_after, const Tell& tell);

 private:
  // A graph without NVLink and the like.
  struct PciGraph {
    explicit PciGraph(const Graph& whole);
    Graph graph;
    PathFinder finder;
  };

  std::string class_of(const Path& path) const;

  const Side& before_;
  const Side& after_;
  std::optional<PciGraph> pci_before_;  // made for the first host that has pairs
  std::optional<PciGraph> pci_after_;
};

}  // namespace weft::topology
