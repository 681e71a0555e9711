// NVIDIA's driver interface (libcuda): names and argument types as its API reference documents them. Declared here, so
// that Weft is built without NVIDIA's headers. Each GPU is used through its primary context.
#include <map>
#include <mutex>

#include "gpu_runtime.hpp"

namespace weft::vendor {
namespace {

using Return = int;                   // CUresult
using Device = int;                   // CUdevice
using Context = struct CudaContext*;  // CUcontext
using Memory = unsigned long long;    // CUdeviceptr
using Stream = void*;                 // CUstream
constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING
constexpr unsigned kPortable = 1;     // CU_MEMHOSTREGISTER_PORTABLE: pinned for all contexts

class Cuda final : public GpuRuntime {
 public:
  explicit Cuda(const Library& library)
      : init_(library.find<Return(unsigned)>("cuInit")),
        count_(library.find<Return(int*)>("cuDeviceGetCount")),
        device_(library.find<Return(Device*, int)>("cuDeviceGet")),
        bus_id_(library.find<Return(char*, int, Device)>("cuDeviceGetPCIBusId")),
        retain_(library.find<Return(Context*, Device)>("cuDevicePrimaryCtxRetain")),
        set_(library.find<Return(Context)>("cuCtxSetCurrent")),
        enable_peer_(library.find<Return(Context, unsigned)>("cuCtxEnablePeerAccess")),
        allocate_(library.find<Return(Memory*, std::size_t)>("cuMemAlloc_v2")),
        register_(library.find<Return(void*, std::size_t, unsigned)>("cuMemHostRegister_v2")),
        make_stream_(library.find<Return(Stream*, unsigned)>("cuStreamCreate")),
        to_gpu_(library.find<Return(Memory, const void*, std::size_t, Stream)>("cuMemcpyHtoDAsync_v2")),
        to_host_(library.find<Return(void*, Memory, std::size_t, Stream)>("cuMemcpyDtoHAsync_v2")),
        between_(library.find<Return(Memory, Context, Memory, Context, std::size_t, Stream)>("cuMemcpyPeerAsync")),
        wait_(library.find<Return(Stream)>("cuStreamSynchronize")),
        error_(library.find<Return(Return, const char**)>("cuGetErrorString")) {}

  bool complete() const override {
    return init_ != nullptr && count_ != nullptr && device_ != nullptr && bus_id_ != nullptr && retain_ != nullptr &&
           set_ != nullptr && enable_peer_ != nullptr && allocate_ != nullptr && register_ != nullptr &&
           make_stream_ != nullptr && to_gpu_ != nullptr && to_host_ != nullptr && between_ != nullptr &&
           wait_ != nullptr;
  }
  int start() override { return init_(0); }
  int count(int& gpus) override { return count_(&gpus); }
  int bus_id(int gpu, char* text, int bytes) override {
    Device device = 0;
    const Return status = device_(&device, gpu);
    return status != 0 ? status : bus_id_(text, bytes, device);
  }
  int use(int gpu) override {
    Context context = nullptr;
    const Return status = context_of(gpu, context);
    return status != 0 ? status : set_(context);
  }
  void reach(int gpu) override {
    Context context = nullptr;
    if (context_of(gpu, context) == 0) enable_peer_(context, 0);
  }
  int allocate(std::size_t bytes, std::uint64_t& memory) override {
    Memory allocated = 0;
    const Return status = allocate_(&allocated, bytes);
    memory = allocated;
    return status;
  }
  int pin(void* memory, std::size_t bytes) override { return register_(memory, bytes, kPortable); }
  int make_stream(void*& stream) override { return make_stream_(&stream, kNonBlocking); }
  int to_gpu(std::uint64_t to, const void* from, std::size_t bytes, void* stream) override {
    return to_gpu_(to, from, bytes, stream);
  }
  int to_host(void* to, std::uint64_t from, std::size_t bytes, void* stream) override {
    return to_host_(to, from, bytes, stream);
  }
  int between(std::uint64_t to, int to_gpu, std::uint64_t from, int from_gpu, std::size_t bytes,
              void* stream) override {
    Context to_context = nullptr;
    Context from_context = nullptr;
    if (const Return status = context_of(to_gpu, to_context); status != 0) return status;
    if (const Return status = context_of(from_gpu, from_context); status != 0) return status;
    return between_(to, to_context, from, from_context, bytes, stream);
  }
  int wait(void* stream) override { return wait_(stream); }
  std::string why(int status) override {
    const char* words = nullptr;
    if (error_ == nullptr || error_(status, &words) != 0 || words == nullptr) words = "error";
    return std::string(words) + " (" + std::to_string(status) + ")";
  }

 private:
  // Made once; any thread.
  Return context_of(int gpu, Context& context) {
    const std::lock_guard lock(mutex_);
    if (const auto found = contexts_.find(gpu); found != contexts_.end()) {
      context = found->second;
      return 0;
    }
    Device device = 0;
    Return status = device_(&device, gpu);
    if (status == 0) status = retain_(&context, device);
    if (status == 0) contexts_[gpu] = context;
    return status;
  }

  Return (*init_)(unsigned);
  Return (*count_)(int*);
  Return (*device_)(Device*, int);
  Return (*bus_id_)(char*, int, Device);
  Return (*retain_)(Context*, Device);
  Return (*set_)(Context);
  Return (*enable_peer_)(Context, unsigned);
  Return (*allocate_)(Memory*, std::size_t);
  Return (*register_)(void*, std::size_t, unsigned);
  Return (*make_stream_)(Stream*, unsigned);
  Return (*to_gpu_)(Memory, const void*, std::size_t, Stream);
  Return (*to_host_)(void*, Memory, std::size_t, Stream);
  Return (*between_)(Memory, Context, Memory, Context, std::size_t, Stream);
  Return (*wait_)(Stream);
  Return (*error_)(Return, const char**);
  std::mutex mutex_;
  std::map<int, Context> contexts_;
};

}  // namespace

std::unique_ptr<GpuRuntime> cuda_runtime(const Library& library) { return std::make_unique<Cuda>(library); }

}  // namespace weft::vendor
