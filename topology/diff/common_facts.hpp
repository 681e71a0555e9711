// What machines that are alike have in common: their facts without names, addresses, serial numbers and whatever else
// is each machine's own.
#pragma once

#include "topology/facts/facts.hpp"

namespace weft::topology {

// Without devices, and with those interfaces and variables only that are not there by chance.
HostFacts common_facts(const HostFacts& host);
DeviceFacts common_facts(const DeviceFacts& device);

}  // namespace weft::topology
