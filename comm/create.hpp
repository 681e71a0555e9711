// create: wires the store, the transports and the runtime for one rank of a job.
#pragma once

#include <memory>

#include "comm/communicator_state.hpp"
#include "weft/options.hpp"

namespace weft::comm {

Result<std::unique_ptr<CommunicatorState>> create(const Options& options);

}  // namespace weft::comm
