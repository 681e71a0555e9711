// NcclTree: the elements of a NCCL topology document for one machine.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "topology/export/nccl_document.hpp"
#include "topology/locality.hpp"
#include "topology/storage.hpp"
#include "topology/survey.hpp"

namespace weft::topology {

class NcclTree {
 public:
  // `fabric_only`: without NICs that no fabric library drives.
  NcclTree(const Survey& survey, bool fabric_only);

  // InvalidArgument if a device has no bus id.
  Result<NcclElement> system(int version);

 private:
  Status number_buses();
  void find_homes();
  bool left_out(const Node& node) const;
  bool is_needed(int home) const;
  int home_of(int node) const;
  NcclElement cpu(int home) const;
  void add_device(const Node& node, NcclElement& above) const;
  void add_children(int node, NcclElement& above) const;
  NcclElement pci(const Node& node) const;
  NcclElement gpu(const Node& node) const;
  NcclElement nic(const Node& node) const;
  void add_links(const Node& node, NcclElement& gpu) const;
  std::string pci_class(const Node& node) const;
  const DeviceFacts* facts_of(const Node& node) const;

  const Survey& survey_;
  const Graph& graph_;
  Locality locality_;
  StorageParts storage_;  // NCCL knows nothing of it
  bool fabric_only_;
  std::vector<std::vector<int>> children_;      // by node
  std::vector<std::vector<const Link*>> near_;  // by node: NVLink, XGMI, C2C
  std::vector<std::string> bus_ids_;            // by node
  std::map<int, std::vector<int>> homes_;       // NUMA node or machine -> the bridges and devices right below, by id
};

}  // namespace weft::topology
