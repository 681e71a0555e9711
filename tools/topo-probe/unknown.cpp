// What is not known of a machine and matters here, and why: the rules that need it were silent.
#include <unistd.h>

#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>

#include "report.hpp"
#include "topology/sources.hpp"
#include "topology/storage.hpp"

namespace weft::topo_probe {
namespace {

using topology::DeviceFacts;
using topology::HostFacts;
using topology::Node;
using topology::NodeKind;

class UnknownFinder {
 public:
  explicit UnknownFinder(const Report& report)
      : report_(report),
        live_(report.survey.source == topology::kThisMachine),
        why_(live_ ? "this machine does not tell" : report.survey.source + " does not tell") {}

  std::vector<Unknown> find() {
    if (report_.survey.source == topology::kModelSource) return {};  // whatever a model does not have does not exist
    for (int package : report_.graph.ids(NodeKind::Package)) with_packages_.insert(report_.locality.node(package).host);
    for (int machine : report_.graph.ids(NodeKind::Machine)) host(report_.locality.node(machine));
    for (const Node& node : report_.graph.nodes)
      if (node.kind == NodeKind::Gpu || node.kind == NodeKind::Nic) device(node);
    const topology::StorageParts storage(report_.graph);
    for (const Node& node : report_.graph.nodes)
      if ((node.kind == NodeKind::PciBridge || node.kind == NodeKind::PciSwitch) && !storage.contains(node.id))
        bridge(node);
    for (const topology::StatedClass& stated : report_.graph.stated)
      if (stated.path_class == topology::PathClass::Unknown)
        add("class", report_.locality.describe(stated.a) + " to " + report_.locality.describe(stated.b), why_);
    for (const topology::Remark& remark : report_.survey.remarks)
      if (remark.kind == topology::RemarkKind::Unreadable || remark.kind == topology::RemarkKind::GaveUp)
        add(std::string(to_string(remark.kind)), remark.subject, remark.evidence);
    return std::move(unknown_);
  }

 private:
  void add(std::string what, std::string subject, std::string why) {
    unknown_.push_back({std::move(what), std::move(subject), std::move(why)});
  }
  void need(bool known, std::string_view what, const std::string& subject) {
    if (!known) add(std::string(what), subject, why_);
  }

  void host(const Node& machine) {
    const std::string& name = machine.name;
    need(with_packages_.contains(machine.host), "packages", name);
    need(machine.cores.has_value(), "cores", name);
    need(!machine.cpus.empty(), "cpus", name);
    const HostFacts& facts = report_.survey.facts(machine.host);
    need(facts.kernel.version.has_value(), "kernel version", name);
    need(facts.kernel.iommu_present.has_value() || facts.kernel.iommu_type.has_value(), "iommu", name);
    need(facts.kernel.numa_balancing.has_value(), "numa balancing", name);
    need(facts.process.memlock_bytes.has_value(), "memlock limit", name);
    need(facts.container.shm_bytes.has_value(), "size of /dev/shm", name);
  }

  void device(const Node& node) {
    const std::string subject = report_.locality.describe(node.id);
    need(!node.bus_id.empty(), "bus id", subject);
    need(!report_.locality.numa_nodes_of(node.id).empty(), "numa node", subject);
    need(report_.locality.pci_link_gbs(node.id).has_value(), "pcie link", subject);
    if (node.kind != NodeKind::Nic) return;
    need(node.network_gbs.has_value(), "network rate", subject);
    need(node.active.has_value(), "port state", subject);
  }

  // ACS is in the configuration space beyond the bytes that everybody may read.
  void bridge(const Node& node) {
    if (node.bus_id.empty()) return;
    const DeviceFacts* facts = report_.survey.facts(node.host).device(node.name);
    if (facts != nullptr && facts->acs) return;
    add("acs", report_.locality.describe(node.id), live_ && geteuid() != 0 ? "needs root" : why_);
  }

  const Report& report_;
  const bool live_;
  const std::string why_;
  std::set<int> with_packages_;  // hosts
  std::vector<Unknown> unknown_;
};

}  // namespace

std::vector<Unknown> find_unknown(const Report& report) { return UnknownFinder(report).find(); }

}  // namespace weft::topo_probe
