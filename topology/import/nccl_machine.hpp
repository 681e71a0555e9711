// NcclMachine: the graph and the facts of one NCCL or RCCL topology document that is known to be well-formed and not
// deep.
#pragma once

#include <map>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "topology/import/remarks.hpp"
#include "topology/machine_builder.hpp"
#include "topology/node_names.hpp"
#include "topology/survey.hpp"

namespace weft::topology {

// A <cpu> is a NUMA node; NCCL knows no packages. What hangs on one <cpu> is PHB to NCCL, so each <cpu> gets one
// implied host bridge. A <pci> with <pci> below is a switch; one that is nothing we know (vendors give bus ids only,
// NCCL reads the rest from sysfs) is left out.
class NcclMachine {
 public:
  NcclMachine(const std::string& path, std::string_view text)
      : path_(path), text_(text), remarks_(path), builder_(graph_, 0) {}

  Result<Survey> read(const pugi::xml_node& system);
  Remarks& remarks() { return remarks_; }

 private:
  // A GPU that is in the graph, and the element that lists its links; empty where the file has none.
  struct GpuElement {
    int node;
    int home;
    pugi::xml_node element;
  };
  using Counts = std::map<std::pair<int, int>, int>;  // (from, to) -> links

  std::size_t line(const pugi::xml_node& at) const;
  void compare_affinities();
  void tell_of_unknown(const pugi::xml_node& cpu);
  void tell_of_senseless(const pugi::xml_node& element);
  Status wrong(const pugi::xml_node& at, std::string_view reason) const;
  Status read_cpu(const pugi::xml_node& cpu);
  Result<int> home_of(const pugi::xml_node& cpu);
  Status read_children(const pugi::xml_node& element, int parent, int home);
  Status read_pci(const pugi::xml_node& pci, int parent, int home);
  Status add_gpu(const pugi::xml_node& pci, Node node, int home);
  Status add_nic(const pugi::xml_node& pci, const pugi::xml_node& nic, Node node);
  int add(Node node);
  Status read_links(const GpuElement& gpu);
  void read_nvlink(const GpuElement& gpu, const pugi::xml_node& link, int count);
  void connect_pairs();
  void connect_switch();
  const pugi::xml_node& element_of(int gpu) const;

  const std::string& path_;
  std::string_view text_;
  Remarks remarks_;
  Survey survey_;
  Graph& graph_ = survey_.graph;
  HostFacts facts_;
  MachineBuilder builder_;
  UniqueNames names_;
  std::string host_hash_;
  std::map<int, int> numa_;                      // by numaid
  std::map<std::string, int> device_;            // GPUs by bus id
  std::map<std::string, pugi::xml_node> first_;  // element of a bus id
  std::vector<GpuElement> gpus_;                 // by node
  Counts nvlinks_;                               // from one GPU to another
  Counts xgmi_;
  std::map<int, int> to_switch_;
  int devices_ = 0;
  int unnamed_nics_ = 0;
};

}  // namespace weft::topology
