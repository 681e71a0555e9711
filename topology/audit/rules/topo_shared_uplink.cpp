// topo.shared_uplink: several GPUs or NICs have to pass one PCIe link on their way to each other, and together they ask
// for more than it carries: there it will queue. Or a GPU and its NIC pass it, and storage that is read at full speed
// would take what they need.
//
// Each GPU is thought to send to its nearest NICs as much as these take, shared evenly. What stays inside a switch does
// not count.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/audit/loads.hpp"
#include "topology/storage.hpp"

namespace weft::topology::audit {
namespace {

std::string words_of(const Input& input, const std::vector<Flow>& flows) {
  std::vector<std::string> words;
  for (const Flow& flow : flows)
    words.push_back(fmt::format("{} to {}", input.locality.node(flow.gpu).name, input.locality.node(flow.nic).name));
  return names_of(words);
}

// One drive is as likely the one that the machine boots from, and idle ever after.
bool is_data(const Input& input, const std::vector<int>& storage) {
  constexpr int kLanesOfDrive = 4;
  if (storage.size() != 1) return !storage.empty();
  const PciLink& link = input.locality.node(storage.front()).pci;
  return link.width.value_or(0) > kLanesOfDrive;
}

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    if (virtual_machine(input, host).value_or(false)) continue;
    for (const LinkLoad& load : pcie_loads(input, host)) {
      const double most = load.capacity_gbs * kLoadSlack;
      const std::string subject = input.on(host, input.locality.node(load.lower).name);
      if (load.flows.size() >= 2 && load.gbs > most)
        report.add(self, subject,
                   fmt::format("its uplink carries {:.4g} GB/s each way and is asked for {:.4g}: {}", load.capacity_gbs,
                               load.gbs, words_of(input, load.flows)));
      else if (load.gbs <= most && load.gbs + load.storage_gbs > most && is_data(input, load.storage))
        report.add(
            self, Severity::Info, subject,
            fmt::format("its uplink carries {:.4g} GB/s each way: {} may ask for {:.4g}, and {} ({}) for {:.4g}",
                        load.capacity_gbs, words_of(input, load.flows), load.gbs, storage_count(load.storage.size()),
                        storage_names(input.graph, load.storage), load.storage_gbs),
            "put the storage below another root port, or read data while no collective runs");
    }
  }
}

}  // namespace

extern const Rule topo_shared_uplink;
const Rule topo_shared_uplink = {
    .id = "topo.shared_uplink",
    .severity = Severity::Warning,
    .summary = "GPUs and NICs, or storage and they, compete for one PCIe uplink",
    .silent =
        "traffic inside a switch, also between the levels of a Broadcom switch; links whose rate is assumed or "
        "emulated, or of which only the present speed is told; GPUs whose nearest NIC is across sockets; a single "
        "drive, and storage where no GPU has to pass the uplink to its NIC; virtual machines",
    .fix = "move a NIC below the switch of the GPUs that use it, or spread the cards over other root ports",
    .reference = "PCI Express base specification, 1.2 (rates)",
    .check = check,
};

}  // namespace weft::topology::audit
