// libhwloc's topology, object by object.
#include "topology/probe/hwloc_objects.hpp"

#include <fmt/format.h>
#include <hwloc.h>
#include <hwloc/distances.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/shortage.hpp"
#include "topology/cpu_set.hpp"
#include "topology/node_names.hpp"
#include "topology/read_file.hpp"
#include "topology/text.hpp"

namespace weft::topology {
namespace {

constexpr const char* kOnlineCpus = "/sys/devices/system/cpu/online";

struct TopologyDeleter {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, TopologyDeleter>;

// hwloc takes orders from the environment: to read a recorded tree, which we give, and many that make another machine
// of this one (HWLOC_XMLFILE, HWLOC_SYNTHETIC, HWLOC_COMPONENTS), which are somebody's for another program. The
// variables are as we want them for the time of one load, one load at a time. Live, where there are none, none is
// touched.
class OwnVariables {
 public:
  explicit OwnVariables(const std::string& root) : lock_(mutex()) {
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
      if (const std::string_view variable = *entry; is_order(variable)) {
        const std::size_t equals = variable.find('=');
        old_.emplace_back(variable.substr(0, equals), variable.substr(equals + 1));
      }
    for (const auto& [name, value] : old_) ::unsetenv(name.c_str());
    if (root == "/") return;
    set("HWLOC_FSROOT", root.c_str());
    set(kNoMessages, "2");
  }
  ~OwnVariables() {
    for (const char* name : set_) ::unsetenv(name);
    for (const auto& [name, value] : old_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  OwnVariables(const OwnVariables&) = delete;
  OwnVariables& operator=(const OwnVariables&) = delete;

 private:
  static constexpr const char* kNoMessages = "HWLOC_HIDE_ERRORS";
  static bool is_order(std::string_view variable) {
    return variable.starts_with("HWLOC_") && !variable.starts_with(kNoMessages) && variable.find('=') != variable.npos;
  }
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  void set(const char* name, const char* value) {
    if (std::getenv(name) != nullptr) return;  // of messages the program has decided
    ::setenv(name, value, 1);
    set_.push_back(name);
  }

  std::unique_lock<std::mutex> lock_;
  std::vector<std::pair<std::string, std::string>> old_;
  std::vector<const char*> set_;
};

Status failed(std::string what) {
  if (base::is_shortage(errno)) return base::shortage(errno);
  return Status(Code::SystemError, fmt::format("hwloc: {}: {}", what, std::strerror(errno)));
}

// A topology with all I/O that matters, not loaded yet. Back-ends that are slow and tell nothing we use are left out,
// and so are x86 (it binds the calling thread to each CPU in turn) and pci (its library leaks a little at each probe):
// sysfs tells the same. (hwloc refuses names that it was built without.)
Result<Topology> configured(VendorBackends backends) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return failed("cannot start");
  Topology topology(raw);
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  for (const char* component : {"opencl", "gl", "cuda", "x86", "pci"})
    hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
  if (backends == VendorBackends::LeaveOut)
    for (const char* component : {"nvml", "rsmi", "levelzero"})
      hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
  return topology;
}

std::optional<IndexSet> set_of(hwloc_const_bitmap_t bitmap) {
  if (bitmap == nullptr) return std::nullopt;
  const int words = hwloc_bitmap_nr_ulongs(bitmap);
  if (words < 0) return std::nullopt;  // all numbers: hwloc does not know
  static_assert(sizeof(unsigned long) == sizeof(std::uint64_t));
  std::vector<std::uint64_t> bits;
  for (unsigned i = 0; i < static_cast<unsigned>(words); ++i) bits.push_back(hwloc_bitmap_to_ith_ulong(bitmap, i));
  return IndexSet(std::move(bits));
}

ObjectKind kind_of(hwloc_obj_type_t type) {
  switch (type) {
    case HWLOC_OBJ_MACHINE:
      return ObjectKind::Machine;
    case HWLOC_OBJ_PACKAGE:
      return ObjectKind::Package;
    case HWLOC_OBJ_NUMANODE:
      return ObjectKind::Numa;
    case HWLOC_OBJ_L3CACHE:
      return ObjectKind::L3Cache;
    case HWLOC_OBJ_CORE:
      return ObjectKind::Core;
    case HWLOC_OBJ_PU:
      return ObjectKind::Pu;
    case HWLOC_OBJ_BRIDGE:
      return ObjectKind::Bridge;
    case HWLOC_OBJ_PCI_DEVICE:
      return ObjectKind::PciDevice;
    case HWLOC_OBJ_OS_DEVICE:
      return ObjectKind::OsDevice;
    default:
      return ObjectKind::Other;
  }
}

unsigned use_of(hwloc_obj_osdev_type_t type) {
  switch (type) {
    case HWLOC_OBJ_OSDEV_BLOCK:
      return kStorage;
    case HWLOC_OBJ_OSDEV_GPU:
      return kGpu;
    case HWLOC_OBJ_OSDEV_NETWORK:
      return kNetwork;
    case HWLOC_OBJ_OSDEV_OPENFABRICS:
      return kOpenFabrics;
    case HWLOC_OBJ_OSDEV_DMA:
      return kDma;
    case HWLOC_OBJ_OSDEV_COPROC:
      return kCoProcessor;
    default:
      return 0;
  }
}

PciFunction function_of(const hwloc_obj_attr_u::hwloc_pcidev_attr_s& pci) {
  PciFunction function;
  function.domain = pci.domain;
  function.bus = pci.bus;
  function.device = pci.dev;
  function.function = pci.func;
  function.pci_class = pci.class_id;
  function.vendor_id = pci.vendor_id;
  function.device_id = pci.device_id;
  function.link_gbs = std::round(static_cast<double>(pci.linkspeed) * 1e6) / 1e6;  // as its XML has it
  return function;
}

void take_attributes(const hwloc_obj& from, Object& object) {
  switch (from.type) {
    case HWLOC_OBJ_NUMANODE:
      // 0 is also what hwloc says where it does not know.
      if (from.attr->numanode.local_memory > 0) object.memory_bytes = from.attr->numanode.local_memory;
      break;
    case HWLOC_OBJ_PCI_DEVICE:
      object.pci = function_of(from.attr->pcidev);
      break;
    case HWLOC_OBJ_OS_DEVICE:
      object.os_device = use_of(from.attr->osdev.type);
      break;
    case HWLOC_OBJ_BRIDGE:
      object.host_bridge = from.attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST;
      object.below_domain = from.attr->bridge.downstream.pci.domain;
      object.below_bus = from.attr->bridge.downstream.pci.secondary_bus;
      if (!object.host_bridge) object.pci = function_of(from.attr->bridge.upstream.pci);
      break;
    default:
      break;
  }
}

class Copy {
 public:
  explicit Copy(bool with_cpus) : with_cpus_(with_cpus) {}

  ObjectTree of(hwloc_topology_t topology) {
    add(hwloc_get_root_obj(topology), -1);
    for (const char* name : {"NVLinkBandwidth", "XGMIBandwidth"}) add_matrix(topology, name);
    return std::move(tree_);
  }

 private:
  bool is_invented(hwloc_obj_type_t type) const {
    return !with_cpus_ && (type == HWLOC_OBJ_PACKAGE || type == HWLOC_OBJ_CORE || type == HWLOC_OBJ_PU);
  }

  // In hwloc's own order: what computes, memory, I/O.
  void add(hwloc_obj_t from, int parent) {
    if (is_invented(from->type)) return;
    Object object;
    object.kind = kind_of(from->type);
    object.parent = parent;
    if (from->os_index != HWLOC_UNKNOWN_INDEX) object.os_index = static_cast<int>(from->os_index);
    if (from->name != nullptr) object.name = as_plain_text(from->name);
    if (from->subtype != nullptr) object.subtype = from->subtype;
    if (with_cpus_) object.cpus = set_of(from->cpuset);
    object.nodes = set_of(from->nodeset);
    if (from->attr != nullptr) take_attributes(*from, object);
    for (unsigned i = 0; i < from->infos_count; ++i)
      object.infos.emplace_back(from->infos[i].name, as_plain_text(from->infos[i].value));
    const int id = tree_.add(std::move(object));
    number_of_[from] = id;
    for (hwloc_obj_t first : {from->first_child, from->memory_first_child, from->io_first_child})
      for (hwloc_obj_t child = first; child != nullptr; child = child->next_sibling) add(child, id);
  }

  void add_matrix(hwloc_topology_t topology, const char* name) {
    hwloc_distances_s* found = nullptr;
    unsigned count = 1;
    if (hwloc_distances_get_by_name(topology, name, &count, &found, 0) != 0 || count == 0) return;
    ObjectMatrix matrix;
    matrix.name = name;
    for (unsigned i = 0; i < found->nbobjs; ++i) {
      const auto known = number_of_.find(found->objs[i]);
      matrix.objects.push_back(known == number_of_.end() ? -1 : known->second);
    }
    matrix.values.assign(found->values, found->values + std::size_t{found->nbobjs} * found->nbobjs);
    hwloc_distances_release(topology, found);
    tree_.matrices.push_back(std::move(matrix));
  }

  bool with_cpus_;
  ObjectTree tree_;
  std::unordered_map<const hwloc_obj*, int> number_of_;
};

}  // namespace

bool tells_cpus(const std::string& root) {
  if (root == "/") return true;
  // libhwloc looks for these, of the first CPU, or of the first that is online.
  // What gathers trees for libhwloc may write the end of a C string into the file.
  const std::string list = read_attribute(root + kOnlineCpus).value_or("");
  const std::vector<CpuRange> online = parse_cpu_list(trim(list.c_str()));
  for (int cpu : {0, online.empty() ? 0 : online.front().first})
    for (const char* folder : {"/sys/bus/cpu/devices", "/sys/devices/system/cpu"})
      for (const char* file : {"package_cpus", "core_cpus", "core_siblings", "thread_siblings"})
        if (::access(fmt::format("{}{}/cpu{}/topology/{}", root, folder, cpu, file).c_str(), R_OK) == 0) return true;
  return false;
}

Result<ObjectTree> read_hwloc_objects(const std::string& root, VendorBackends backends) {
  WEFT_TRY(base::check_spare());
  std::optional<OwnVariables> variables(std::in_place, root);
  WEFT_TRY_ASSIGN(const Topology topology, configured(backends));
  if (hwloc_topology_load(topology.get()) != 0) {
    if (root == "/" || base::is_shortage(errno)) return failed("cannot read this machine");
    return Status(Code::Corrupt, fmt::format("{}: libhwloc cannot read this tree: {}; look at its lists of CPUs", root,
                                             std::strerror(errno)));
  }
  variables.reset();
  WEFT_TRY(base::check_spare());  // it leaves out what it cannot open
  return Copy(tells_cpus(root)).of(topology.get());
}

}  // namespace weft::topology
