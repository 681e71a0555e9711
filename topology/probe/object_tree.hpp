// ObjectTree: a machine as hwloc describes it, as a value: made by libhwloc of a live machine or a recorded tree, or
// read from hwloc's XML. The phases of a probe make a graph of it and need neither.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "topology/probe/index_set.hpp"

namespace weft::topology {

enum class ObjectKind : std::uint8_t {
  Machine,
  Package,
  Numa,
  L3Cache,
  Core,
  Pu,
  Bridge,
  PciDevice,
  OsDevice,
  Other,  // dies, groups, other caches, memory-side caches: they only hold others
};
inline constexpr std::size_t kObjectKinds = 10;
bool is_io(ObjectKind kind);

// What an OS device is for; hwloc 3 gives several of these at once.
enum OsDeviceUse : unsigned {
  kStorage = 1,
  kMemory = 2,
  kGpu = 4,
  kCoProcessor = 8,
  kNetwork = 16,
  kOpenFabrics = 32,
  kDma = 64,
};

struct PciFunction {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned function = 0;
  int pci_class = 0;  // 0x0302
  unsigned vendor_id = 0;
  unsigned device_id = 0;
  double link_gbs = 0;  // now; 0: unknown

  std::string bus_id() const;  // "0000:c1:00.0"
  std::string id() const;      // "10de:2330"
};

struct Object {
  ObjectKind kind = ObjectKind::Other;
  int parent = -1;   // -1: the machine
  int position = 0;  // among those of its kind
  std::vector<int> children;
  std::optional<int> os_index;
  std::string name;              // of an OS device
  std::string subtype;           // "NVSwitch"
  std::optional<IndexSet> cpus;  // I/O objects have none
  std::optional<IndexSet> nodes;
  std::optional<std::uint64_t> memory_bytes;  // of a NUMA node
  bool host_bridge = false;
  unsigned below_domain = 0;  // of a bridge: the first bus below it
  unsigned below_bus = 0;
  unsigned os_device = 0;  // OsDeviceUse
  PciFunction pci;         // of a PCI device, or of a bridge that is no host bridge
  std::vector<std::pair<std::string, std::string>> infos;

  // What the source says of it under that name; null if nothing.
  const std::string* info(std::string_view name) const;
  // As the operating system numbers it, else by position.
  int index() const { return os_index.value_or(position); }
};

// A matrix between objects, row by row.
struct ObjectMatrix {
  std::string name;          // "NVLinkBandwidth"
  std::vector<int> objects;  // -1: one that is not in the tree
  std::vector<std::uint64_t> values;

  std::uint64_t value(std::size_t row, std::size_t column) const { return values[row * objects.size() + column]; }
};

class ObjectTree {
 public:
  // Below object.parent, behind its other children; returns its number. The first is the machine.
  int add(Object object);

  const std::vector<Object>& objects() const { return objects_; }
  const Object& at(int object) const { return objects_[static_cast<std::size_t>(object)]; }
  Object& at(int object) { return objects_[static_cast<std::size_t>(object)]; }
  const std::vector<int>& all(ObjectKind kind) const { return by_kind_[static_cast<std::size_t>(kind)]; }

  // The NUMA node of that number; -1 if there is none.
  int numa(int os_index) const;
  // Cores whose CPUs are all in the set; CPUs where no cores are known.
  int cores_inside(const IndexSet& set) const;
  // hwloc puts one memory node into every machine. Where a source lacks it, the machine is one node.
  void add_missing_numa();

  std::vector<ObjectMatrix> matrices;
  std::optional<IndexSet> allowed_cpus;  // what a cgroup leaves of the machine
  std::optional<IndexSet> allowed_nodes;

 private:
  std::vector<Object> objects_;
  std::array<std::vector<int>, kObjectKinds> by_kind_;
};

}  // namespace weft::topology
