// A collective as C calls it: run at once, or started with a request.
#pragma once

#include "comm/c_api/handles.hpp"
#include "weft/operation.hpp"

namespace weft::comm::c_api {

// Where they are not read they may hold anything.
struct CallTypes {
  weft_data_type_t datatype = WEFT_UINT8;
  weft_reduce_op_t op = WEFT_SUM;
  weft_quantisation_t quantisation = WEFT_QUANTISE_NONE;
};

// Completes `operation` by the types and runs it, or with a request starts it.
weft_status_t call(const char* function, weft_comm* comm, weft_request_t* request, Operation operation,
                   const CallTypes& types);

// A refusal in the words of C's arguments. `status` is what Communicator::run() said of the operation.
Status in_words_of_c(const Operation& operation, int rank, int size, Status status);

}  // namespace weft::comm::c_api
