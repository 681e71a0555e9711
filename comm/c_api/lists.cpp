// weft_all_reduce_list: many buffers in one call.
#include <fmt/format.h>

#include <vector>

#include "comm/c_api/boundary.hpp"
#include "comm/c_api/call.hpp"
#include "comm/c_api/vocabulary.hpp"
#include "comm/check.hpp"

namespace weft::comm::c_api {
namespace {

struct List {
  const void* const* sendbuffs;
  void* const* recvbuffs;
  const std::size_t* counts;
  std::size_t buffers;
};

Status all_reduce_list(weft_comm& comm, const List& list, weft_data_type_t datatype, weft_reduce_op_t op) {
  WEFT_TRY_ASSIGN(const DataType dtype, to_cpp(datatype));
  WEFT_TRY_ASSIGN(const ReduceOp reduce_op, to_cpp(op));
  if (list.buffers > 0) {
    if (list.sendbuffs == nullptr) return null_argument("sendbuffs", "give the address of each buffer to send");
    if (list.recvbuffs == nullptr) return null_argument("recvbuffs", "give the address of each buffer to receive in");
    if (list.counts == nullptr) return null_argument("counts", "give the elements of each buffer");
  }
  std::vector<Operation> operations;
  operations.reserve(list.buffers);
  for (std::size_t i = 0; i < list.buffers; ++i) {
    operations.push_back(all_reduce(list.sendbuffs[i], list.recvbuffs[i], list.counts[i], dtype, reduce_op));
  }
  Status status = comm.communicator.run(operations);
  if (status.code() != Code::InvalidArgument) return status;
  // Which of them.
  const int rank = comm.communicator.rank(), size = comm.communicator.size();
  for (std::size_t i = 0; i < list.buffers; ++i) {
    Status told = in_words_of_c(operations[i], rank, size, check(operations[i], rank, size));
    if (!told.ok()) return std::move(told).with_context(fmt::format("buffer {}", i));
  }
  return status;
}

}  // namespace
}  // namespace weft::comm::c_api

weft_status_t weft_all_reduce_list(const void* const* sendbuffs, void* const* recvbuffs, const size_t* counts,
                                   size_t buffers, weft_data_type_t datatype, weft_reduce_op_t op, weft_comm_t comm) {
  using namespace weft::comm::c_api;
  return collectively("weft_all_reduce_list", comm, [&](weft_comm& known) -> weft::Status {
    return all_reduce_list(known, {sendbuffs, recvbuffs, counts, buffers}, datatype, op);
  });
}
