// AMD's runtime (libamdhip64): names and argument types as its API reference documents them. Declared here, so that
// Weft is built without AMD's headers.
#include "gpu_runtime.hpp"

namespace weft::vendor {
namespace {

using Return = int;                   // hipError_t
using Stream = void*;                 // hipStream_t
constexpr unsigned kNonBlocking = 1;  // hipStreamNonBlocking
constexpr unsigned kPortable = 1;     // hipHostRegisterPortable

void* pointer(std::uint64_t memory) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(memory)); }

class Hip final : public GpuRuntime {
 public:
  explicit Hip(const Library& library)
      : init_(library.find<Return(unsigned)>("hipInit")),
        count_(library.find<Return(int*)>("hipGetDeviceCount")),
        bus_id_(library.find<Return(char*, int, int)>("hipDeviceGetPCIBusId")),
        set_(library.find<Return(int)>("hipSetDevice")),
        enable_peer_(library.find<Return(int, unsigned)>("hipDeviceEnablePeerAccess")),
        allocate_(library.find<Return(void**, std::size_t)>("hipMalloc")),
        register_(library.find<Return(void*, std::size_t, unsigned)>("hipHostRegister")),
        make_stream_(library.find<Return(Stream*, unsigned)>("hipStreamCreateWithFlags")),
        to_gpu_(library.find<Return(void*, void*, std::size_t, Stream)>("hipMemcpyHtoDAsync")),
        to_host_(library.find<Return(void*, void*, std::size_t, Stream)>("hipMemcpyDtoHAsync")),
        between_(library.find<Return(void*, int, const void*, int, std::size_t, Stream)>("hipMemcpyPeerAsync")),
        wait_(library.find<Return(Stream)>("hipStreamSynchronize")),
        error_(library.find<const char*(Return)>("hipGetErrorString")) {}

  bool complete() const override {
    return init_ != nullptr && count_ != nullptr && bus_id_ != nullptr && set_ != nullptr && enable_peer_ != nullptr &&
           allocate_ != nullptr && register_ != nullptr && make_stream_ != nullptr && to_gpu_ != nullptr &&
           to_host_ != nullptr && between_ != nullptr && wait_ != nullptr;
  }
  int start() override { return init_(0); }
  int count(int& gpus) override { return count_(&gpus); }
  int bus_id(int gpu, char* text, int bytes) override { return bus_id_(text, bytes, gpu); }
  int use(int gpu) override { return set_(gpu); }
  void reach(int gpu) override { enable_peer_(gpu, 0); }
  int allocate(std::size_t bytes, std::uint64_t& memory) override {
    void* allocated = nullptr;
    const Return status = allocate_(&allocated, bytes);
    memory = reinterpret_cast<std::uintptr_t>(allocated);
    return status;
  }
  int pin(void* memory, std::size_t bytes) override { return register_(memory, bytes, kPortable); }
  int make_stream(void*& stream) override { return make_stream_(&stream, kNonBlocking); }
  int to_gpu(std::uint64_t to, const void* from, std::size_t bytes, void* stream) override {
    return to_gpu_(pointer(to), const_cast<void*>(from), bytes, stream);  // HIP's interface lacks the const
  }
  int to_host(void* to, std::uint64_t from, std::size_t bytes, void* stream) override {
    return to_host_(to, pointer(from), bytes, stream);
  }
  int between(std::uint64_t to, int to_gpu, std::uint64_t from, int from_gpu, std::size_t bytes,
              void* stream) override {
    return between_(pointer(to), to_gpu, pointer(from), from_gpu, bytes, stream);
  }
  int wait(void* stream) override { return wait_(stream); }
  std::string why(int status) override {
    const char* words = error_ != nullptr ? error_(status) : nullptr;
    return std::string(words != nullptr ? words : "error") + " (" + std::to_string(status) + ")";
  }

 private:
  Return (*init_)(unsigned);
  Return (*count_)(int*);
  Return (*bus_id_)(char*, int, int);
  Return (*set_)(int);
  Return (*enable_peer_)(int, unsigned);
  Return (*allocate_)(void**, std::size_t);
  Return (*register_)(void*, std::size_t, unsigned);
  Return (*make_stream_)(Stream*, unsigned);
  Return (*to_gpu_)(void*, void*, std::size_t, Stream);
  Return (*to_host_)(void*, void*, std::size_t, Stream);
  Return (*between_)(void*, int, const void*, int, std::size_t, Stream);
  Return (*wait_)(Stream);
  const char* (*error_)(Return);
};

}  // namespace

std::unique_ptr<GpuRuntime> hip_runtime(const Library& library) { return std::make_unique<Hip>(library); }

}  // namespace weft::vendor
