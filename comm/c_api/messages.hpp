// What the calls for messages and for objects have in common.
#pragma once

#include "weft/status.hpp"

namespace weft::comm::c_api {

// A message's refusal in the words of C's arguments.
Status in_words_of_c(Status status);

}  // namespace weft::comm::c_api
