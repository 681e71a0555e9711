// libibverbs' answer: the MTU of ports, and their state where sysfs is not there.
#include <algorithm>

#include "topology/facts/port_states.hpp"
#include "topology/vendor/merge.hpp"

namespace weft::topology {
namespace {

// ibv_mtu: 1 is 256 bytes, 5 is 4096.
std::optional<int> mtu_bytes(int mtu) {
  if (mtu < 1 || mtu > 5) return std::nullopt;
  return 128 << mtu;
}

void merge_port(const VerbsPort& told, DeviceFacts& device) {
  auto found = std::find_if(device.ports.begin(), device.ports.end(),
                            [&](const PortFacts& port) { return port.number == told.number; });
  if (found == device.ports.end()) {
    PortFacts port;
    port.number = told.number;
    found = device.ports.insert(device.ports.end(), std::move(port));
  }
  found->active_mtu = mtu_bytes(told.active_mtu);
  if (!found->state) found->state = port_state(told.state);
}

}  // namespace

void merge_verbs(const VerbsAnswer& answer, Survey& survey) {
  std::vector<DeviceFacts>& devices = survey.hosts.at(0).devices;
  for (const VerbsAnswer::Device& told : answer.devices) {
    if (told.error) survey.remarks.push_back({RemarkKind::Unreadable, "libibverbs " + told.name, *told.error});
    const auto found = std::find_if(devices.begin(), devices.end(), [&](const DeviceFacts& one) {
      return one.verbs == told.name || (!told.name.empty() && one.node == told.name);
    });
    if (found == devices.end()) continue;
    for (const VerbsPort& port : told.ports) merge_port(port, *found);
  }
}

}  // namespace weft::topology
