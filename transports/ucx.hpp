// ucx: processes anywhere, over what UCX finds: TCP, RDMA. A lane is a tag; see ucx_tag.hpp for what fits into it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "transports/transport.hpp"

namespace weft::transports {

struct UcxOptions {
  std::string interface;  // "eth0", or a rail each: "eth0,eth1" (UCX_NET_DEVICES); empty: UCX chooses
  std::function<void(const std::string& text)> note = {};  // told over which rails messages go, if there are several
};

// One UCX worker a rail. Lane ids have at most 28 bits, ranks 16. Signatures are compared by a digest of 20 bits and
// not carried. Unsupported in a process that was forked from one that used UCX then.
Result<std::unique_ptr<Transport>> make_ucx_transport(const UcxOptions& options);

}  // namespace weft::transports
