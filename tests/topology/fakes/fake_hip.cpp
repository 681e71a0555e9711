// A library with the interface of libamdhip64 over a machine that fake_gpus.hpp plays. Written down anew from AMD's API
// reference, not taken from weft-vendor.
#include "tests/topology/fakes/fake_gpus.hpp"

using weft::fakes::gpus;
using weft::fakes::kFine;
using weft::fakes::kInvalid;

namespace {

thread_local int current = 0;  // GPU: HIP uses the first unless it is told

std::uint64_t address(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

}  // namespace

extern "C" {

int hipInit(unsigned flags) { return flags != 0 ? kInvalid : gpus().start(); }
int hipGetDeviceCount(int* count) {
  *count = gpus().count();
  return kFine;
}
int hipDeviceGetPCIBusId(char* text, int bytes, int gpu) { return gpus().bus_id(gpu, text, bytes); }
int hipSetDevice(int gpu) {
  current = gpu;
  return gpus().has(gpu) ? kFine : kInvalid;
}
int hipDeviceEnablePeerAccess(int gpu, unsigned flags) { return flags == 0 && gpu != current ? kFine : kInvalid; }
int hipMalloc(void** memory, std::size_t bytes) {
  std::uint64_t allocated = 0;
  const int status = gpus().allocate(current, bytes, allocated);
  *memory = reinterpret_cast<void*>(static_cast<std::uintptr_t>(allocated));
  return status;
}
int hipHostRegister(void* memory, std::size_t bytes, unsigned flags) {
  return flags == 1 ? gpus().pin(memory, bytes) : kInvalid;
}
int hipStreamCreateWithFlags(void** stream, unsigned flags) {
  return flags <= 1 ? gpus().make_stream(current, *stream) : kInvalid;
}
int hipMemcpyHtoDAsync(void* to, void* from, std::size_t bytes, void* stream) {
  return gpus().copy(address(to), current, address(from), -1, bytes, stream, current);
}
int hipMemcpyDtoHAsync(void* to, void* from, std::size_t bytes, void* stream) {
  return gpus().copy(address(to), -1, address(from), current, bytes, stream, current);
}
int hipMemcpyPeerAsync(void* to, int to_gpu, const void* from, int from_gpu, std::size_t bytes, void* stream) {
  return gpus().copy(address(to), to_gpu, address(from), from_gpu, bytes, stream, current);
}
int hipStreamSynchronize(void* stream) { return gpus().wait(stream); }
const char* hipGetErrorString(int status) {
  return status == weft::fakes::kNoDevice ? "hipErrorNoDevice" : "hipErrorInvalidValue";
}

}  // extern "C"
