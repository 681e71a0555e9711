// Threads that each run on one CPU, and memory that lies where the thread runs that touched it first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace weft::topology {

// Runs `body(i)` on CPU cpus[i], each in a thread of its own; they start together. False if a CPU may not be used; then
// the others ran all the same.
bool run_pinned(const std::vector<int>& cpus, const std::function<void(std::size_t)>& body);

struct UnmapMemory {
  std::size_t bytes = 0;
  void operator()(std::byte* memory) const;
};

class TouchedMemory {
 public:
  // Nothing (bytes() == 0) if there is no memory. Not touched yet.
  explicit TouchedMemory(std::size_t bytes);
  std::byte* data() const { return data_.get(); }
  std::size_t bytes() const { return bytes_; }
  // By the calling thread.
  void touch(std::uint8_t value) const;

 private:
  std::size_t bytes_ = 0;
  std::unique_ptr<std::byte, UnmapMemory> data_;
};

// Seconds that reading all of it takes.
double time_read(const std::byte* memory, std::size_t bytes);

double median_of(std::vector<double> values);  // at least one

}  // namespace weft::topology
