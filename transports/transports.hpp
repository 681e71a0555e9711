// make_transports: the transports of this process as its options ask for them. The one place that knows them all.
#pragma once

#include <memory>
#include <vector>

#include "transports/transport.hpp"
#include "weft/options.hpp"

namespace weft::transports {

// InvalidArgument for a name in options.transports that is unknown or given twice.
Status check_transports(const Options& options);

// In order of preference: options.transports, or shm, then ucx. Two ranks use the first that reaches, both ways.
// "local" is not made here but by a LocalHub, which the ranks of one process share. Checks the
// options. A transport that cannot start is an error if it was asked for by name, and left out if not;
// no transport at all is an error.
Result<std::vector<std::unique_ptr<Transport>>> make_transports(const Options& options);

}  // namespace weft::transports
