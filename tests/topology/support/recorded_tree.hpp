// RecordedTree: a small /sys in a temporary folder, for probes that are given another root. Removed with the object.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.hpp"

namespace weft::topology::test {

class RecordedTree {
 public:
  RecordedTree() = default;
  RecordedTree(const RecordedTree&) = delete;
  RecordedTree& operator=(const RecordedTree&) = delete;

  const std::string& root() const { return root_; }
  void write(const std::string& path, std::string_view text);
  void link(const std::string& path, const std::string& target);

  // `numas` NUMA nodes on as many packages, with `cores` cores each; CPUs are numbered through.
  void add_cpus(int numas, int cores);

  struct Pci {
    std::string bus_id;              // "0000:01:00.0"
    std::vector<std::string> above;  // bus ids of the bridges from the root down
    std::string pci_class;           // "0x030200"
    std::string vendor;              // "0x10de"
    std::string device;
    std::string cpus;                                             // "0-1"; the CPUs it is near
    int secondary_bus = -1;                                       // of a bridge: the first bus below it
    int last_bus = -1;                                            // and the last
    std::vector<std::pair<std::string, std::string>> attributes;  // current_link_speed and the like
  };
  void add_pci(const Pci& pci);
  // A ConnectX-7 on Ethernet, near CPUs 0 and 1.
  static Pci connectx7() { return {"0000:01:00.0", {}, "0x020000", "0x15b3", "0x1021", "0-1", -1, -1, {}}; }
  void add_net(const std::string& name, const Pci& on, const std::string& operstate, const std::string& speed);
  void add_verbs(const std::string& name, const Pci& on, const std::string& state, const std::string& rate);

 private:
  std::string folder_of(const Pci& pci) const;
  weft::test::TemporaryFolder folder_;
  const std::string& root_ = folder_.path();
};

}  // namespace weft::topology::test
