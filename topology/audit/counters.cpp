// Error counters of ports that rose between two surveys.
#include "topology/audit/counters.hpp"

#include <algorithm>

#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

const PortFacts* same_port(const DeviceFacts* device, int number) {
  if (device == nullptr) return nullptr;
  for (const PortFacts& port : device->ports)
    if (port.number == number) return &port;
  return nullptr;
}

void compare(const PortFacts& before, const PortView& now, const Input& input, std::vector<Rise>& rises) {
  for (const Counter& counter : now.port->errors) {
    const auto old = std::find_if(before.errors.begin(), before.errors.end(),
                                  [&](const Counter& one) { return one.name == counter.name; });
    if (old == before.errors.end() || counter.value <= old->value) continue;
    const std::uint64_t count = counter.value - old->value;
    rises.push_back(
        {describe(input, now), counter.name, count, static_cast<double>(count) * 3600 / input.seconds, now.ethernet()});
  }
}

}  // namespace

std::vector<Rise> rising_counters(const Input& input) {
  std::vector<Rise> rises;
  if (input.before == nullptr || !(input.seconds > 0)) return rises;
  for (int host = 0; host < input.hosts(); ++host)
    for (const PortView& view : ports_of(input, host)) {
      const std::string& key = view.device->bus_id.empty() ? view.device->node : view.device->bus_id;
      if (const PortFacts* before = same_port(input.before->facts(host).device(key), view.port->number))
        compare(*before, view, input, rises);
    }
  return rises;
}

}  // namespace weft::topology::audit
