// How a request ends, for those that hold requests of their own.
#pragma once

#include "comm/c_api/handles.hpp"
#include "weft/status.hpp"

namespace weft::comm::c_api {

// Waits for a request that is not null, gives its outcome and ends it: *handle is null then.
Status finish(weft_request_t* handle);

}  // namespace weft::comm::c_api
