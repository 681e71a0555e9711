// GpuRuntime: the few calls that copies need, as NVIDIA's driver and AMD's runtime both have them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "library.hpp"

namespace weft::vendor {

// Every call gives 0 if all is well, else a number that why() knows. Memory of a GPU is an address as a number.
class GpuRuntime {
 public:
  virtual ~GpuRuntime() = default;

  // Whether the library has all functions that are called here.
  virtual bool complete() const = 0;
  virtual int start() = 0;
  virtual int count(int& gpus) = 0;
  virtual int bus_id(int gpu, char* text, int bytes) = 0;
  // By the calling thread, from now on.
  virtual int use(int gpu) = 0;
  // The GPU that is used may read and write the other's memory itself. That it cannot is no error: copies between them
  // go through the host's memory then.
  virtual void reach(int gpu) = 0;
  virtual int allocate(std::size_t bytes, std::uint64_t& memory) = 0;
  // The host's memory, so that GPUs reach it without another copy.
  virtual int pin(void* memory, std::size_t bytes) = 0;
  virtual int make_stream(void*& stream) = 0;
  // These start a copy.
  virtual int to_gpu(std::uint64_t to, const void* from, std::size_t bytes, void* stream) = 0;
  virtual int to_host(void* to, std::uint64_t from, std::size_t bytes, void* stream) = 0;
  virtual int between(std::uint64_t to, int to_gpu, std::uint64_t from, int from_gpu, std::size_t bytes,
                      void* stream) = 0;
  // Until all that was started on the stream is over.
  virtual int wait(void* stream) = 0;
  virtual std::string why(int status) = 0;
};

std::unique_ptr<GpuRuntime> cuda_runtime(const Library& library);
std::unique_ptr<GpuRuntime> hip_runtime(const Library& library);

}  // namespace weft::vendor
