// The objects of an hwloc XML document.
#include "topology/import/hwloc_objects_xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "topology/device_kinds.hpp"
#include "topology/import/import.hpp"
#include "topology/import/source_text.hpp"
#include "topology/import/xml_document.hpp"
#include "topology/text.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMaxObjects = std::size_t{1} << 15;
constexpr std::size_t kMaxPlaces = 1024;  // packages, NUMA nodes, last-level caches: each
constexpr std::size_t kMaxMatrixObjects = 1024;
constexpr std::size_t kMaxInfos = 256;  // of one object
constexpr int kMaxOsIndex = IndexSet::kMaxIndex;
constexpr double kMaxLinkGbs = 1e4;

struct TypeName {
  std::string_view name;
  ObjectKind kind;
};
// "Socket" and "System" are of generation 1.
constexpr TypeName kTypes[] = {
    {"Machine", ObjectKind::Machine},  {"System", ObjectKind::Machine}, {"Package", ObjectKind::Package},
    {"Socket", ObjectKind::Package},   {"NUMANode", ObjectKind::Numa},  {"L3Cache", ObjectKind::L3Cache},
    {"Core", ObjectKind::Core},        {"PU", ObjectKind::Pu},          {"Bridge", ObjectKind::Bridge},
    {"PCIDev", ObjectKind::PciDevice}, {"OSDev", ObjectKind::OsDevice},
};

// By the number that generations 1 and 2 write.
constexpr unsigned kOldUses[] = {kStorage, kGpu, kNetwork, kOpenFabrics, kDma, kCoProcessor, kMemory};

std::string_view attribute(const pugi::xml_node& element, const char* name) { return element.attribute(name).value(); }

ObjectKind kind_of(const pugi::xml_node& element) {
  const std::string_view type = attribute(element, "type");
  // 0: unified, 1: data, 2: instructions
  if (type == "Cache" && attribute(element, "depth") == "3" && attribute(element, "cache_type") != "2")
    return ObjectKind::L3Cache;
  for (const TypeName& known : kTypes)
    if (known.name == type) return known.kind;
  return ObjectKind::Other;
}

// Reads text from its front: hexadecimal numbers and the signs between them.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}
  bool hex(unsigned& value, std::size_t most_digits) {
    const std::string_view head = rest_.substr(0, most_digits);
    const auto [end, error] = std::from_chars(head.data(), head.data() + head.size(), value, 16);
    if (error != std::errc()) return false;
    rest_.remove_prefix(static_cast<std::size_t>(end - head.data()));
    return true;
  }
  bool sign(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

// "0000:c1:00.0"
bool scan_bus_id(std::string_view text, PciFunction& pci) {
  Scanner scanner(text);
  return scanner.hex(pci.domain, 8) && scanner.sign(":") && scanner.hex(pci.bus, 2) && scanner.sign(":") &&
         scanner.hex(pci.device, 2) && scanner.sign(".") && scanner.hex(pci.function, 1) && scanner.at_end();
}

// "0302 [10de:2330] [10de:16c1] a1"; what follows the first brackets is not used.
bool scan_pci_type(std::string_view text, PciFunction& pci) {
  Scanner scanner(text);
  unsigned pci_class = 0;
  if (!scanner.hex(pci_class, 4) || !scanner.sign(" [") || !scanner.hex(pci.vendor_id, 4) || !scanner.sign(":") ||
      !scanner.hex(pci.device_id, 4) || !scanner.sign("]"))
    return false;
  pci.pci_class = static_cast<int>(pci_class);
  return true;
}

// The numbers or words of all <u64values> or <indexes> elements together.
template <typename Take>
bool each_word(const pugi::xml_node& distances, const char* name, Take take) {
  for (const pugi::xml_node& list : distances.children(name))
    for (const pugi::xml_node& text : list.children())
      for (std::string_view line = text.value(); !line.empty();) {
        const std::size_t begin = line.find_first_not_of(" \t\r\n");
        if (begin == std::string_view::npos) break;
        line.remove_prefix(begin);
        const std::size_t end = std::min(line.find_first_of(" \t\r\n"), line.size());
        if (!take(line.substr(0, end))) return false;
        line.remove_prefix(end);
      }
  return true;
}

void read_infos(const pugi::xml_node& element, Object& object) {
  for (const pugi::xml_node& info : element.children("info"))
    if (object.infos.size() < kMaxInfos)
      object.infos.emplace_back(as_plain_text(attribute(info, "name")), as_plain_text(attribute(info, "value")));
}

}  // namespace

Result<ObjectTree> HwlocXml::read(const pugi::xml_node& topology) {
  WEFT_TRY(read_version(topology));
  const pugi::xml_node machine = topology.child("object");
  if (machine.empty() || kind_of(machine) != ObjectKind::Machine)
    return wrong(topology, "holds no object of type Machine, so it describes no machine");
  WEFT_TRY(add(machine, -1));
  tree_.allowed_cpus = IndexSet::parse_mask(attribute(machine, "allowed_cpuset"));
  tree_.allowed_nodes = IndexSet::parse_mask(attribute(machine, "allowed_nodeset"));
  for (const char* name : {"distances2", "distances2hetero"})
    for (const pugi::xml_node& distances : topology.children(name)) WEFT_TRY(add_matrix(distances));
  WEFT_TRY(check());
  tree_.add_missing_numa();
  return std::move(tree_);
}

Status HwlocXml::wrong(const pugi::xml_node& at, std::string_view reason) const {
  return import_error(path_, line_of(text_, at), reason);
}

Status HwlocXml::read_version(const pugi::xml_node& topology) {
  const std::string_view version = attribute(topology, "version");
  if (version.empty()) return {};
  const std::optional<int> major = parse_whole<int>(version.substr(0, version.find('.')));
  if (!major || *major < 1 || *major > 3)
    return wrong(topology, fmt::format("hwloc XML of version \"{}\"; versions 1 to 3 are read", as_node_name(version)));
  generation_ = *major;
  return {};
}

// What computes, then memory, then I/O: hwloc's own order, which no generation keeps in its files.
Status HwlocXml::add_children(const pugi::xml_node& element, int parent) {
  enum class Part { Computing, Memory, Io };
  const auto part_of = [&](const pugi::xml_node& child) {
    const ObjectKind kind = kind_of(child);
    if (is_io(kind)) return Part::Io;
    return kind == ObjectKind::Numa && generation_ > 1 ? Part::Memory : Part::Computing;
  };
  for (const Part part : {Part::Computing, Part::Memory, Part::Io})
    for (const pugi::xml_node& child : element.children("object"))
      if (part_of(child) == part) WEFT_TRY(add(child, parent));
  return {};
}

Status HwlocXml::add(const pugi::xml_node& element, int parent) {
  if (tree_.objects().size() == kMaxObjects)
    return wrong(element, fmt::format("has more than {} objects", kMaxObjects));
  Object object;
  object.kind = kind_of(element);
  object.parent = parent;
  if (parent >= 0 && object.kind == ObjectKind::Machine) return wrong(element, "a machine inside a machine");
  object.name = as_plain_text(attribute(element, "name"));
  object.subtype = as_plain_text(attribute(element, "subtype"));
  WEFT_TRY(read_sets(element, object));
  WEFT_TRY(read_attributes(element, object));
  read_infos(element, object);
  if (parent < 0) read_infos(element.parent(), object);  // generation 3 says there what is of the machine
  const int id = tree_.add(std::move(object));
  if (const auto gp = parse_whole<unsigned long long>(attribute(element, "gp_index")))
    by_gp_index_.try_emplace({std::string(attribute(element, "type")), *gp}, id);
  return add_children(element, id);
}

Status HwlocXml::read_sets(const pugi::xml_node& element, Object& object) const {
  if (const std::string_view index = attribute(element, "os_index"); !index.empty()) {
    const std::optional<long long> value = parse_whole<long long>(index);
    if (!value || *value < -1) return wrong(element, fmt::format("os_index \"{}\" is no index", as_node_name(index)));
    // Generation 1 writes -1, as an unsigned number, where it does not know, and numbers I/O objects by bus.
    if (*value >= 0 && *value <= kMaxOsIndex) object.os_index = static_cast<int>(*value);
  }
  const auto read = [&](const char* name, std::optional<IndexSet>& set) -> Status {
    const std::string_view mask = attribute(element, name);
    set = IndexSet::parse_mask(mask);
    if (set || mask.empty() || mask.starts_with("0xf...f")) return {};
    return wrong(element, fmt::format("{} \"{}\" is no set", name, as_node_name(mask)));
  };
  WEFT_TRY(read("cpuset", object.cpus));
  return read("nodeset", object.nodes);
}

Status HwlocXml::read_attributes(const pugi::xml_node& element, Object& object) const {
  switch (object.kind) {
    case ObjectKind::Machine:
    case ObjectKind::Numa:
      return read_memory(element, object);
    case ObjectKind::Bridge:
      return read_bridge(element, object);
    case ObjectKind::PciDevice:
      return read_pci(element, object.pci);
    case ObjectKind::OsDevice: {
      const std::string_view text = attribute(element, "osdev_type");
      const std::optional<unsigned> type = parse_whole<unsigned>(text);
      if (!type) return wrong(element, fmt::format("osdev_type \"{}\" is no type", as_node_name(text)));
      if (generation_ > 2)
        object.os_device = *type;
      else if (*type < std::size(kOldUses))
        object.os_device = kOldUses[*type];
      return {};
    }
    default:
      return {};
  }
}

Status HwlocXml::read_memory(const pugi::xml_node& element, Object& object) const {
  const std::string_view text = attribute(element, "local_memory");
  if (text.empty()) return {};
  object.memory_bytes = parse_whole<std::uint64_t>(text);
  if (object.memory_bytes) return {};
  return wrong(element, fmt::format("local_memory \"{}\" is no number of bytes", as_node_name(text)));
}

Status HwlocXml::read_bridge(const pugi::xml_node& element, Object& object) const {
  const std::string_view type = attribute(element, "bridge_type");
  object.host_bridge = type.starts_with("0-");
  if (!object.host_bridge) WEFT_TRY(read_pci(element, object.pci));
  Scanner scanner(attribute(element, "bridge_pci"));  // "0000:[00-07]"
  if (!scanner.hex(object.below_domain, 8) || !scanner.sign(":[") || !scanner.hex(object.below_bus, 2))
    return wrong(element,
                 fmt::format("bridge_pci \"{}\" names no buses", as_node_name(attribute(element, "bridge_pci"))));
  return {};
}

Status HwlocXml::read_pci(const pugi::xml_node& element, PciFunction& pci) const {
  const std::string_view bus_id = attribute(element, "pci_busid");
  if (!scan_bus_id(bus_id, pci))
    return wrong(element, fmt::format("pci_busid \"{}\" is no bus id", as_node_name(bus_id)));
  const std::string_view type = attribute(element, "pci_type");
  if (!type.empty() && !scan_pci_type(type, pci))
    return wrong(element, fmt::format("pci_type \"{}\" names no class and device", as_node_name(type)));
  const std::string_view rate = attribute(element, "pci_link_speed");
  if (rate.empty()) return {};
  const std::optional<double> speed = parse_whole<double>(rate);
  if (!speed || !std::isfinite(*speed) || *speed < 0 || *speed >= kMaxLinkGbs)
    return wrong(element, fmt::format("pci_link_speed \"{}\" is no rate in GB/s", as_node_name(rate)));
  pci.link_gbs = *speed;
  return {};
}

// Matrices of links; that of latencies between NUMA nodes says nothing a graph could hold.
Status HwlocXml::add_matrix(const pugi::xml_node& distances) {
  ObjectMatrix matrix;
  matrix.name = as_plain_text(attribute(distances, "name"));
  if (!matrix.name.ends_with("Bandwidth") || generation_ == 1) return {};
  WEFT_TRY(read_matrix_objects(distances, matrix));
  const std::size_t expected = matrix.objects.size() * matrix.objects.size();
  const bool sound = each_word(distances, "u64values", [&](std::string_view word) {
    const std::optional<std::uint64_t> value = parse_whole<std::uint64_t>(word);
    if (!value || matrix.values.size() == expected) return false;
    matrix.values.push_back(*value);
    return true;
  });
  if (!sound || matrix.values.size() != expected)
    return wrong(distances, fmt::format("the matrix {} does not hold {} numbers", as_node_name(matrix.name), expected));
  tree_.matrices.push_back(std::move(matrix));
  return {};
}

// "OSDev:802" where objects of several types are in it, else numbers of one type.
Status HwlocXml::read_matrix_objects(const pugi::xml_node& distances, ObjectMatrix& matrix) const {
  const std::string common(attribute(distances, "type"));
  const bool sound = each_word(distances, "indexes", [&](std::string_view word) {
    const std::size_t colon = word.find(':');
    const std::string type = colon == std::string_view::npos ? common : std::string(word.substr(0, colon));
    const auto index = parse_whole<unsigned long long>(colon == std::string_view::npos ? word : word.substr(colon + 1));
    if (!index || matrix.objects.size() == kMaxMatrixObjects) return false;
    const auto found = by_gp_index_.find(std::make_pair(type, *index));
    matrix.objects.push_back(found == by_gp_index_.end() ? -1 : found->second);
    return true;
  });
  const std::optional<std::size_t> count = parse_whole<std::size_t>(attribute(distances, "nbobjs"));
  if (!sound || !count || *count != matrix.objects.size())
    return wrong(distances, fmt::format("the matrix {} does not name its objects", as_node_name(matrix.name)));
  return {};
}

Status HwlocXml::check() const {
  if (!tree_.at(0).cpus || tree_.at(0).cpus->empty()) return import_error(path_, 0, "the machine has no CPUs");
  for (const ObjectKind kind : {ObjectKind::Package, ObjectKind::Numa, ObjectKind::L3Cache})
    if (tree_.all(kind).size() > kMaxPlaces)
      return import_error(path_, 0, fmt::format("has more than {} packages, NUMA nodes or caches", kMaxPlaces));
  if (tree_.all(ObjectKind::PciDevice).size() > static_cast<std::size_t>(kMaxImportDevices))
    return import_error(path_, 0, fmt::format("has more than {} PCI devices", kMaxImportDevices));
  const std::vector<int>& devices = tree_.all(ObjectKind::PciDevice);
  const auto gpus = std::count_if(devices.begin(), devices.end(), [&](int id) {
    const PciFunction& pci = tree_.at(id).pci;
    return pci_role(pci.pci_class, pci.id()) == PciRole::Gpu;
  });
  if (gpus > static_cast<std::ptrdiff_t>(kMaxImportGpus))
    return import_error(path_, 0, fmt::format("has more than {} GPUs", kMaxImportGpus));
  return {};
}

}  // namespace weft::topology
