// Look-ups in a tree of objects.
#include "topology/probe/object_tree.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace weft::topology {

std::string PciFunction::bus_id() const {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, bus, device, function);
}

std::string PciFunction::id() const { return fmt::format("{:04x}:{:04x}", vendor_id, device_id); }

bool is_io(ObjectKind kind) {
  return kind == ObjectKind::Bridge || kind == ObjectKind::PciDevice || kind == ObjectKind::OsDevice;
}

const std::string* Object::info(std::string_view wanted) const {
  const auto found = std::find_if(infos.begin(), infos.end(), [&](const auto& info) { return info.first == wanted; });
  return found == infos.end() ? nullptr : &found->second;
}

int ObjectTree::add(Object object) {
  const int id = static_cast<int>(objects_.size());
  std::vector<int>& alike = by_kind_[static_cast<std::size_t>(object.kind)];
  object.position = static_cast<int>(alike.size());
  alike.push_back(id);
  if (object.parent >= 0) at(object.parent).children.push_back(id);
  objects_.push_back(std::move(object));
  return id;
}

int ObjectTree::numa(int os_index) const {
  for (int id : all(ObjectKind::Numa))
    if (at(id).index() == os_index) return id;
  return -1;
}

int ObjectTree::cores_inside(const IndexSet& set) const {
  const std::vector<int>& cores = all(ObjectKind::Core);
  const std::vector<int>& counted = cores.empty() ? all(ObjectKind::Pu) : cores;
  return static_cast<int>(std::count_if(counted.begin(), counted.end(), [&](int id) {
    const std::optional<IndexSet>& cpus = at(id).cpus;
    return cpus && !cpus->empty() && set.contains(*cpus);
  }));
}

void ObjectTree::add_missing_numa() {
  if (objects_.empty() || !all(ObjectKind::Numa).empty()) return;
  const IndexSet first(std::vector<std::uint64_t>{1});
  Object numa;
  numa.kind = ObjectKind::Numa;
  numa.parent = 0;
  numa.os_index = 0;
  Object& added = objects_[static_cast<std::size_t>(add(std::move(numa)))];
  added.cpus = at(0).cpus;
  added.memory_bytes = at(0).memory_bytes;
  for (Object& object : objects_)
    if (object.cpus) object.nodes = first;
}

}  // namespace weft::topology
