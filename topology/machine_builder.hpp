// MachineBuilder: the parts of one machine, linked as every source of graphs (models, probes, importers) links them,
// with the nominal rates of rates.hpp. Names are made here, so that a package is called "package0" whoever found it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/graph.hpp"

namespace weft::topology {

class MachineBuilder {
 public:
  MachineBuilder(Graph& graph, int host) : graph_(graph), host_(host) {}

  int machine(std::string name);
  int machine_id() const { return machine_; }
  // os_index also numbers the name. `parent`: the machine if there are no packages.
  int package(int os_index, std::string cpu_model);
  int numa(int parent, int os_index);
  // A NUMA node of a machine whose packages are not known: what leaves it goes as between sockets, at that rate, or an
  // assumed one where the CPU is not known either.
  int numa_without_package(int os_index, std::optional<double> socket_gbs);
  int core_group(int parent, int index);
  // A PCI host bridge below a NUMA node, package or machine.
  int host_bridge(int parent, std::string name);
  // A bridge, switch or device below another; node.parent says which. The link gets the best that both its ends can do
  // at the present width (an idle GPU runs its link slowly), else `reported_gbs`, else an assumed rate.
  int pci_device(Node node, std::string source, std::optional<double> reported_gbs = {});
  // Links all packages to each other and to the machine. Call once, when all are there.
  void join_packages();

 private:
  int add(NodeKind kind, int parent, std::string name);

  Graph& graph_;
  int host_;
  int machine_ = -1;
  std::vector<int> packages_;
};

}  // namespace weft::topology
