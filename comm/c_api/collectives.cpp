// The collectives of C: each names its arguments and leaves the rest to call().
#include <cstdint>
#include <type_traits>

#include "comm/c_api/call.hpp"

using weft::Blocks;
using weft::DataType;
using weft::ReduceOp;
using weft::comm::c_api::call;

static_assert(std::is_same_v<size_t, std::uint64_t>, "arrays of counts are passed on as they are");

namespace {

// Replaced by call(), from CallTypes.
constexpr DataType kType = DataType::UInt8;
constexpr ReduceOp kOp = ReduceOp::Sum;

}  // namespace

weft_status_t weft_all_reduce(const void* sendbuff, void* recvbuff, size_t count, weft_data_type_t datatype,
                              weft_reduce_op_t op, weft_comm_t comm, weft_request_t* request) {
  return call("weft_all_reduce", comm, request, weft::all_reduce(sendbuff, recvbuff, count, kType, kOp),
              {.datatype = datatype, .op = op});
}

weft_status_t weft_reduce(const void* sendbuff, void* recvbuff, size_t count, weft_data_type_t datatype,
                          weft_reduce_op_t op, int root, weft_comm_t comm, weft_request_t* request) {
  return call("weft_reduce", comm, request, weft::reduce(sendbuff, recvbuff, count, kType, kOp, root),
              {.datatype = datatype, .op = op});
}

weft_status_t weft_broadcast(const void* sendbuff, void* recvbuff, size_t count, weft_data_type_t datatype, int root,
                             weft_comm_t comm, weft_request_t* request) {
  return call("weft_broadcast", comm, request, weft::broadcast(sendbuff, recvbuff, count, kType, root),
              {.datatype = datatype});
}

weft_status_t weft_all_gather(const void* sendbuff, void* recvbuff, size_t sendcount, weft_data_type_t datatype,
                              weft_comm_t comm, weft_request_t* request) {
  return call("weft_all_gather", comm, request, weft::all_gather(sendbuff, recvbuff, sendcount, kType),
              {.datatype = datatype});
}

weft_status_t weft_reduce_scatter(const void* sendbuff, void* recvbuff, size_t recvcount, weft_data_type_t datatype,
                                  weft_reduce_op_t op, weft_comm_t comm, weft_request_t* request) {
  return call("weft_reduce_scatter", comm, request, weft::reduce_scatter(sendbuff, recvbuff, recvcount, kType, kOp),
              {.datatype = datatype, .op = op});
}

weft_status_t weft_all_to_all(const void* sendbuff, void* recvbuff, size_t count, weft_data_type_t datatype,
                              weft_comm_t comm, weft_request_t* request) {
  return call("weft_all_to_all", comm, request, weft::all_to_all(sendbuff, recvbuff, count, kType),
              {.datatype = datatype});
}

weft_status_t weft_gather(const void* sendbuff, void* recvbuff, size_t count, weft_data_type_t datatype, int root,
                          weft_comm_t comm, weft_request_t* request) {
  return call("weft_gather", comm, request, weft::gather(sendbuff, recvbuff, count, kType, root),
              {.datatype = datatype});
}

weft_status_t weft_scatter(const void* sendbuff, void* recvbuff, size_t count, weft_data_type_t datatype, int root,
                           weft_comm_t comm, weft_request_t* request) {
  return call("weft_scatter", comm, request, weft::scatter(sendbuff, recvbuff, count, kType, root),
              {.datatype = datatype});
}

weft_status_t weft_barrier(weft_comm_t comm, weft_request_t* request) {
  return call("weft_barrier", comm, request, weft::barrier(), {});
}

weft_status_t weft_all_reduce_quantised(const void* sendbuff, void* recvbuff, size_t count, weft_data_type_t datatype,
                                        weft_reduce_op_t op, weft_quantisation_t quantisation, weft_comm_t comm,
                                        weft_request_t* request) {
  return call("weft_all_reduce_quantised", comm, request, weft::all_reduce(sendbuff, recvbuff, count, kType, kOp),
              {.datatype = datatype, .op = op, .quantisation = quantisation});
}

weft_status_t weft_all_gather_quantised(const void* sendbuff, void* recvbuff, size_t sendcount,
                                        weft_data_type_t datatype, weft_quantisation_t quantisation, weft_comm_t comm,
                                        weft_request_t* request) {
  return call("weft_all_gather_quantised", comm, request, weft::all_gather(sendbuff, recvbuff, sendcount, kType),
              {.datatype = datatype, .quantisation = quantisation});
}

weft_status_t weft_all_gather_v(const void* sendbuff, void* recvbuff, const size_t* recvcounts,
                                const size_t* recvoffsets, weft_data_type_t datatype, weft_comm_t comm,
                                weft_request_t* request) {
  const Blocks out{.counts = recvcounts, .offsets = recvoffsets};
  return call("weft_all_gather_v", comm, request, weft::all_gather_v(sendbuff, recvbuff, out, kType),
              {.datatype = datatype});
}

weft_status_t weft_reduce_scatter_v(const void* sendbuff, const size_t* sendcounts, const size_t* sendoffsets,
                                    void* recvbuff, weft_data_type_t datatype, weft_reduce_op_t op, weft_comm_t comm,
                                    weft_request_t* request) {
  const Blocks in{.counts = sendcounts, .offsets = sendoffsets};
  return call("weft_reduce_scatter_v", comm, request, weft::reduce_scatter_v(sendbuff, in, recvbuff, kType, kOp),
              {.datatype = datatype, .op = op});
}

weft_status_t weft_all_to_all_v(const void* sendbuff, const size_t* sendcounts, const size_t* sendoffsets,
                                void* recvbuff, const size_t* recvcounts, const size_t* recvoffsets, size_t bound,
                                weft_data_type_t datatype, weft_comm_t comm, weft_request_t* request) {
  const Blocks in{.counts = sendcounts, .offsets = sendoffsets};
  const Blocks out{.counts = recvcounts, .offsets = recvoffsets};
  return call("weft_all_to_all_v", comm, request, weft::all_to_all_v(sendbuff, in, recvbuff, out, kType, bound),
              {.datatype = datatype});
}

weft_status_t weft_gather_v(const void* sendbuff, size_t sendcount, void* recvbuff, const size_t* recvcounts,
                            const size_t* recvoffsets, weft_data_type_t datatype, int root, weft_comm_t comm,
                            weft_request_t* request) {
  const Blocks out{.counts = recvcounts, .offsets = recvoffsets};
  return call("weft_gather_v", comm, request, weft::gather_v(sendbuff, sendcount, recvbuff, out, kType, root),
              {.datatype = datatype});
}

weft_status_t weft_scatter_v(const void* sendbuff, const size_t* sendcounts, const size_t* sendoffsets, void* recvbuff,
                             size_t recvcount, weft_data_type_t datatype, int root, weft_comm_t comm,
                             weft_request_t* request) {
  const Blocks in{.counts = sendcounts, .offsets = sendoffsets};
  return call("weft_scatter_v", comm, request, weft::scatter_v(sendbuff, in, recvbuff, recvcount, kType, root),
              {.datatype = datatype});
}
