// probe() and from_hwloc_xml(): hwloc reads the machine or the file, the phases make a graph of it.
#include <fmt/format.h>
#include <hwloc.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "topology/limits.hpp"
#include "topology/probe/machine_probe.hpp"
#include "topology/read_file.hpp"
#include "weft/graph.hpp"

namespace weft::topology {
namespace {

struct TopologyDeleter {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, TopologyDeleter>;

// hwloc reads a recorded tree only by way of the environment. The variable is set for the time of one load, one load at
// a time.
class ScopedRoot {
 public:
  explicit ScopedRoot(const std::string& root) : lock_(mutex()) {
    if (const char* old = std::getenv(kVariable)) old_ = old;
    ::setenv(kVariable, root.c_str(), 1);
  }
  ~ScopedRoot() {
    if (old_)
      ::setenv(kVariable, old_->c_str(), 1);
    else
      ::unsetenv(kVariable);
  }
  ScopedRoot(const ScopedRoot&) = delete;
  ScopedRoot& operator=(const ScopedRoot&) = delete;

 private:
  static constexpr const char* kVariable = "HWLOC_FSROOT";
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  std::unique_lock<std::mutex> lock_;
  std::optional<std::string> old_;
};

Status failed(std::string what) {
  return Status(Code::SystemError, fmt::format("hwloc: {}: {}", what, std::strerror(errno)));
}

// A topology with all I/O that matters, not loaded yet. Back-ends that are slow and tell nothing we use are left out,
// and so are x86 (it binds the calling thread to each CPU in turn) and pci (its library leaks a little at each probe):
// sysfs tells the same. (hwloc refuses names that it was built without.)
Result<Topology> configured() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return failed("cannot start");
  Topology topology(raw);
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  for (const char* component : {"opencl", "gl", "cuda", "x86", "pci"})
    hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
  return topology;
}

}  // namespace

Result<Graph> probe(const ProbeOptions& options) {
  WEFT_TRY_ASSIGN(const Topology topology, configured());
  const bool recorded = options.root != "/" && !options.root.empty();
  std::optional<ScopedRoot> scope;
  if (recorded) {
    if (list_folder(options.root + "/sys").empty())
      return Status(Code::NotFound,
                    fmt::format("{} holds no recorded tree: there is no {}/sys", options.root, options.root));
    scope.emplace(options.root);
  }
  if (hwloc_topology_load(topology.get()) != 0) return failed("cannot read this machine");
  scope.reset();
  MachineProbe machine(topology.get(), recorded ? options.root : "/", "sysfs");
  return run_phases(machine);
}

Result<Graph> from_hwloc_xml(std::string_view path) {
  const std::string file(path);
  WEFT_TRY_ASSIGN(const std::string text, read_file(file, kMaxFileBytes));
  const auto corrupt = [&](std::string_view what) { return Status(Code::Corrupt, fmt::format("{}: {}", file, what)); };
  const std::string_view head = std::string_view(text).substr(0, 4096);
  if (head.find("<topology") == std::string_view::npos)
    return corrupt("is not hwloc XML: there is no <topology> element");
  if (head.find("<topology version=\"3") != std::string_view::npos)
    return Status(Code::Unsupported,
                  fmt::format("{}: was written by hwloc 3, which the hwloc {} here does not read; write it again "
                              "with lstopo of hwloc 2",
                              file, hwloc_get_api_version() >> 16));
  // hwloc would say so itself, on standard error. (It adds the node that files of hwloc 1 may lack.)
  if (head.find("<topology version=\"2") != std::string_view::npos && text.find("\"NUMANode\"") == std::string::npos)
    return corrupt("has no NUMA node, without which hwloc does not read it; write it again with lstopo");
  WEFT_TRY_ASSIGN(const Topology topology, configured());
  hwloc_topology_set_flags(topology.get(), HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  if (hwloc_topology_set_xmlbuffer(topology.get(), text.c_str(), static_cast<int>(text.size() + 1)) != 0 ||
      hwloc_topology_load(topology.get()) != 0)
    return corrupt("hwloc cannot read it");
  MachineProbe machine(topology.get(), "", "hwloc");
  Result<Graph> graph = run_phases(machine);
  if (!graph) return corrupt(graph.error().message());
  return graph;
}

}  // namespace weft::topology
