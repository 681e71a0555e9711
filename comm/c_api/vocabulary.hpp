// C's types and operators as C++ has them.
#pragma once

#include "weft/status.hpp"
#include "weft/types.hpp"
#include "weft/weft.h"

namespace weft::comm::c_api {

// InvalidArgument names the argument and the values that it may have.
Result<DataType> to_cpp(weft_data_type_t datatype);
Result<ReduceOp> to_cpp(weft_reduce_op_t op);
Result<Quantisation> to_cpp(weft_quantisation_t quantisation);

// Of what a program made: operators, and types of its own elements.
weft_reduce_op_t to_c(ReduceOp made);
weft_data_type_t to_c(DataType opaque);

}  // namespace weft::comm::c_api
