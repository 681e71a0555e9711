// Symmetric memory of C: kept by its communicator, known by its address.
#include <fmt/format.h>

#include <algorithm>

#include "comm/c_api/boundary.hpp"

namespace weft::comm::c_api {
namespace {

Status allocate(weft_comm& comm, void** buffer, std::size_t bytes) {
  if (buffer == nullptr) return null_argument("buffer", "pass the address of a pointer");
  WEFT_TRY_ASSIGN(SymmetricMemory memory, comm.communicator.allocate(bytes));
  comm.memory.push_back(std::move(memory));
  *buffer = comm.memory.back().data();
  return {};
}

Status free(weft_comm& comm, const void* buffer) {
  const auto found =
      std::ranges::find_if(comm.memory, [&](const SymmetricMemory& memory) { return memory.data() == buffer; });
  if (buffer == nullptr || found == comm.memory.end())
    return Status(Code::InvalidArgument,
                  fmt::format("buffer {} is not what weft_mem_alloc gave for comm; pass that address", buffer));
  SymmetricMemory memory = std::move(*found);
  comm.memory.erase(found);
  return comm.communicator.free(std::move(memory));
}

}  // namespace
}  // namespace weft::comm::c_api

using namespace weft::comm::c_api;

weft_status_t weft_mem_alloc(void** buffer, size_t bytes, weft_comm_t comm) {
  return collectively("weft_mem_alloc", comm, [&](weft_comm& known) { return allocate(known, buffer, bytes); });
}

weft_status_t weft_mem_free(void* buffer, weft_comm_t comm) {
  return collectively("weft_mem_free", comm, [&](weft_comm& known) { return weft::comm::c_api::free(known, buffer); });
}
