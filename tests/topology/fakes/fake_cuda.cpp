// A library with the interface of libcuda over a machine that fake_gpus.hpp plays. Written down anew from NVIDIA's API
// reference, not taken from weft-vendor.
#include "tests/topology/fakes/fake_gpus.hpp"

using weft::fakes::gpus;
using weft::fakes::kFine;
using weft::fakes::kInvalid;

namespace {

thread_local int current = -1;  // GPU

// A context is its GPU's number, plus one.
void* context_of(int gpu) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(gpu) + 1); }
int gpu_of(void* context) { return static_cast<int>(reinterpret_cast<std::uintptr_t>(context)) - 1; }
std::uint64_t address(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

}  // namespace

extern "C" {

int cuInit(unsigned flags) { return flags != 0 ? kInvalid : gpus().start(); }
int cuDeviceGetCount(int* count) {
  *count = gpus().count();
  return kFine;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = 100 + ordinal;
  return gpus().has(ordinal) ? kFine : kInvalid;
}
int cuDeviceGetPCIBusId(char* text, int bytes, int device) { return gpus().bus_id(device - 100, text, bytes); }
int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = context_of(device - 100);
  return gpus().has(device - 100) ? kFine : kInvalid;
}
int cuCtxSetCurrent(void* context) {
  current = gpu_of(context);
  return gpus().has(current) ? kFine : kInvalid;
}
int cuCtxEnablePeerAccess(void* context, unsigned flags) {
  return flags == 0 && gpu_of(context) != current ? kFine : kInvalid;
}
int cuMemAlloc_v2(unsigned long long* memory, std::size_t bytes) {
  std::uint64_t allocated = 0;
  const int status = gpus().allocate(current, bytes, allocated);
  *memory = allocated;
  return status;
}
int cuMemHostRegister_v2(void* memory, std::size_t bytes, unsigned flags) {
  return flags == 1 && current >= 0 ? gpus().pin(memory, bytes) : kInvalid;
}
int cuStreamCreate(void** stream, unsigned flags) {
  return flags <= 1 ? gpus().make_stream(current, *stream) : kInvalid;
}
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, std::size_t bytes, void* stream) {
  return gpus().copy(to, current, address(from), -1, bytes, stream, current);
}
int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, std::size_t bytes, void* stream) {
  return gpus().copy(address(to), -1, from, current, bytes, stream, current);
}
int cuMemcpyPeerAsync(unsigned long long to, void* to_context, unsigned long long from, void* from_context,
                      std::size_t bytes, void* stream) {
  return gpus().copy(to, gpu_of(to_context), from, gpu_of(from_context), bytes, stream, current);
}
int cuStreamSynchronize(void* stream) { return gpus().wait(stream); }
int cuGetErrorString(int status, const char** words) {
  *words = status == weft::fakes::kNoDevice        ? "no CUDA-capable device is detected"
           : status == weft::fakes::kLaunchFailure ? "unspecified launch failure"
                                                   : "invalid argument";
  return kFine;
}

}  // extern "C"
