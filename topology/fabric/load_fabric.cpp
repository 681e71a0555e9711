// load_fabric(): hosts, and the network that a file tells.
#include <fmt/format.h>

#include <algorithm>

#include "base/plural.hpp"
#include "topology/append_hosts.hpp"
#include "topology/fabric/fabric.hpp"
#include "topology/import/import.hpp"
#include "topology/import/source_text.hpp"
#include "topology/limits.hpp"
#include "topology/network.hpp"
#include "topology/read_file.hpp"
#include "topology/text.hpp"

namespace weft::topology {
namespace {

std::string beside(const std::string& path, const std::string& file) {
  const std::size_t slash = path.rfind('/');
  return file.starts_with('/') || slash == std::string::npos ? file : path.substr(0, slash + 1) + file;
}

// One machine of those that a line of hosts stands for.
Result<Survey> machine_of(const std::string& path, const FabricFile::Hosts& hosts) {
  Survey machine;
  if (!hosts.model.empty()) {
    Result<Graph> graph = model(hosts.model);
    if (!graph) return std::move(graph).error().with_context(path);
    machine.graph = std::move(graph).value();
  } else {
    const std::string file = beside(path, hosts.file);
    WEFT_TRY_ASSIGN(const std::string text, read_file(file, kMaxFileBytes));
    if (is_fabric_file(without_byte_order_mark(text)))
      return import_error(path, 0, fmt::format("{} is a fabric itself; give a machine", file));
    WEFT_TRY_ASSIGN(machine, load_survey(file));
  }
  if (machine.graph.hosts() != 1)
    return import_error(
        path, 0,
        fmt::format("hosts of {}: these are {} machines, not one", hosts.model + hosts.file, machine.graph.hosts()));
  return machine;
}

Result<Survey> hosts_of(const std::string& path, const FabricFile& file) {
  if (file.hosts.empty())
    return import_error(path, 0, "has no hosts; add \"hosts N of MODEL\", or name the hosts with --from or --model");
  Survey cluster;
  for (const FabricFile::Hosts& hosts : file.hosts) {
    WEFT_TRY_ASSIGN(const Survey machine, machine_of(path, hosts));
    const std::size_t count = cluster.hosts.size() + static_cast<std::size_t>(hosts.count);
    if (count > static_cast<std::size_t>(kMaxHosts) ||
        cluster.graph.nodes.size() + machine.graph.nodes.size() * static_cast<std::size_t>(hosts.count) > kMaxNodes)
      return import_error(path, 0, fmt::format("more than {} hosts or {} nodes", kMaxHosts, kMaxNodes));
    for (int i = 0; i < hosts.count; ++i) append_hosts(cluster, machine);
  }
  for (Node& node : cluster.graph.nodes)
    if (node.kind == NodeKind::Machine) node.name = fmt::format("host{}", node.host);
  cluster.graph.name = file.name;
  return cluster;
}

Survey without_network(Survey survey) {
  if (survey.graph.ids(NodeKind::NetworkSwitch).empty()) return survey;
  Survey bare;
  append_hosts(bare, survey);
  bare.graph.name = std::move(survey.graph.name);
  bare.source = std::move(survey.source);
  return bare;
}

int most_nics(const Graph& graph) {
  std::size_t most = 0;
  for (const std::vector<int>& nics : network_nics(graph)) most = std::max(most, nics.size());
  return static_cast<int>(most);
}

int count_of(const FabricFile& file) {
  int count = 0;
  for (const FabricFile::Hosts& hosts : file.hosts) count += hosts.count;
  return count;
}

Result<Survey> by_fabric_file(const std::string& path, std::string_view text, std::optional<Survey> hosts) {
  WEFT_TRY_ASSIGN(FabricFile file, parse_fabric_file(path, text));
  if (hosts && !file.hosts.empty() && count_of(file) != hosts->graph.hosts())
    return import_error(
        path, 0,
        fmt::format("is about {}, but there are {}; leave its lines of hosts out",
                    base::plural(static_cast<std::uint64_t>(count_of(file)), "host"), hosts->graph.hosts()));
  Survey cluster;
  if (hosts) {
    cluster = without_network(std::move(*hosts));
  } else {
    WEFT_TRY_ASSIGN(cluster, hosts_of(path, file));
    cluster.source = "fabric file";
    if (cluster.graph.name.empty()) cluster.graph.name = base::plural(cluster.hosts.size(), "host");
  }
  fill_defaults(file.spec, most_nics(cluster.graph));
  if (Status fits = check_fabric(file.spec); !fits.ok()) return import_error(path, 0, fits.message());
  join_hosts(cluster.graph, file.spec);
  return cluster;
}

}  // namespace

Result<Survey> read_fabric(const std::string& path, std::string_view text, std::optional<Survey> hosts) {
  if (is_fabric_file(text)) return by_fabric_file(path, text, std::move(hosts));
  if (!is_ibnetdiscover(text))
    return import_error(path, 0, "is no fabric file (\"weft-fabric 1\") and no listing of ibnetdiscover");
  if (!hosts) return read_ibnetdiscover(path, text);
  return join_by_ibnetdiscover(path, text, without_network(std::move(*hosts)));
}

Result<Survey> load_fabric(const std::string& path, std::optional<Survey> hosts) {
  WEFT_TRY_ASSIGN(const std::string text, read_file(path, kMaxImportBytes));
  return read_fabric(path, without_byte_order_mark(text), std::move(hosts));
}

}  // namespace weft::topology
