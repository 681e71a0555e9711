// The readers of facts, one file each. Each fills what it can see below the root and leaves the rest unknown.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.hpp"
#include "topology/facts/facts.hpp"
#include "topology/facts/tree.hpp"
#include "topology/survey.hpp"

namespace weft::topology {

// What all readers look at.
struct FactsSource {
  const Tree& tree;
  std::optional<base::Environment> environment;  // of the process that looks; unknown in most recorded trees
};

// Live that of this process, else what proc/self/environ holds.
std::optional<base::Environment> read_environment(const Tree& tree);
// Variables that say how collectives and networks are set up; others are nobody's business.
std::vector<Variable> relevant_variables(const base::Environment& environment);

void read_kernel(const FactsSource& source, KernelFacts& kernel);
void read_platform(const FactsSource& source, PlatformFacts& platform);
// By the paths of cgroups, as proc/self/cgroup or hwloc writes them: "docker", "slurm".
std::optional<std::string> kind_of_cgroups(std::string_view cgroups);
void read_container(const FactsSource& source, ContainerFacts& container);
void read_process(const FactsSource& source, ProcessFacts& process);
void read_shared_cores(const FactsSource& source, HostFacts& host);
void read_interfaces(const FactsSource& source, std::vector<InterfaceFacts>& interfaces);
// GPUs, NICs, what is above them, NVSwitches; `graph` gives them their names. Remarks say what may not be read.
void read_devices(const FactsSource& source, const Graph& graph, HostFacts& host, std::vector<Remark>& remarks);
// Ports, GIDs, counters, GUIDs: added to the devices that are there.
void read_verbs(const FactsSource& source, std::vector<DeviceFacts>& devices);
// Fabric manager, NCCL's plugins, topology files.
void read_services(const FactsSource& source, HostFacts& host);

// Folders in which the loader looks for libraries: LD_LIBRARY_PATH, those of etc/ld.so.conf, the usual ones, and where
// clouds put theirs. Without a slash before them, as a Tree wants it.
std::vector<std::string> library_folders(const FactsSource& source);

}  // namespace weft::topology
