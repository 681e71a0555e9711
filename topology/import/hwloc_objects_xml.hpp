// HwlocXml: the objects of one hwloc XML document, of generation 1 (no version), 2 or 3.
#pragma once

#include <map>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "topology/probe/object_tree.hpp"
#include "weft/status.hpp"

namespace weft::topology {

// The generations differ in little: 1 has NUMA nodes in the main tree (2 and 3 as memory children), "Socket", caches
// without a number in their name, and no matrices that matter here; 3 writes the uses of an OS device as a bit mask.
class HwlocXml {
 public:
  HwlocXml(const std::string& path, std::string_view text) : path_(path), text_(text) {}

  // `topology`: the root element of a document that is known not to be deep.
  Result<ObjectTree> read(const pugi::xml_node& topology);
  int generation() const { return generation_; }

 private:
  Status wrong(const pugi::xml_node& at, std::string_view reason) const;
  Status read_version(const pugi::xml_node& topology);
  Status add(const pugi::xml_node& element, int parent);
  Status add_children(const pugi::xml_node& element, int parent);
  Status read_sets(const pugi::xml_node& element, Object& object) const;
  Status read_attributes(const pugi::xml_node& element, Object& object) const;
  Status read_memory(const pugi::xml_node& element, Object& object) const;
  Status read_bridge(const pugi::xml_node& element, Object& object) const;
  Status read_pci(const pugi::xml_node& element, PciFunction& pci) const;
  Status add_matrix(const pugi::xml_node& distances);
  Status read_matrix_objects(const pugi::xml_node& distances, ObjectMatrix& matrix) const;
  Status check() const;

  const std::string& path_;
  std::string_view text_;
  int generation_ = 1;
  ObjectTree tree_;
  std::map<std::pair<std::string, unsigned long long>, int, std::less<>> by_gp_index_;  // (type, gp_index) -> object
};

}  // namespace weft::topology
