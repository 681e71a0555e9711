// ucx: processes anywhere, over what UCX finds: TCP, RDMA. A lane is a tag; see ucx_tag.hpp for what fits into it.
#pragma once

#include <memory>
#include <string>

#include "transports/transport.hpp"

namespace weft::transports {

struct UcxOptions {
  std::string interface;  // network interface (UCX_NET_DEVICES); empty: UCX chooses
};

// One UCX worker. Lane ids have at most 28 bits, ranks 16. Signatures are compared by a digest of 20 bits and not
// carried. Unsupported in a process that was forked from one that used UCX then.
Result<std::unique_ptr<Transport>> make_ucx_transport(const UcxOptions& options);

}  // namespace weft::transports
