// weft_options_t and weft_message_options_t: read whatever version of them a caller was compiled with; the former is
// laid over the environment.
#pragma once

#include "weft/options.hpp"
#include "weft/weft.h"

namespace weft::comm::c_api {

// As this library knows them; null gives all defaults. InvalidArgument names the field or the byte.
Result<weft_options_t> read_options(const weft_options_t* given);
Result<weft_message_options_t> read_options(const weft_message_options_t* given);

// Everything from the environment, with what `settings` set; rank and size from the launcher.
Result<Options> launched_options(const weft_options_t& settings);
// The same without asking a launcher.
Result<Options> configured_options(const weft_options_t& settings);

}  // namespace weft::comm::c_api
