// Memory of one NUMA node read by the cores of another.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace weft::topology {

// CPUs near the memory, and those that read it.
struct MemoryRead {
  std::vector<int> owners;
  std::vector<int> readers;
};

// GB/s of each, all at the same time; of `rounds` the best. Nothing if a CPU may not be used, a CPU reads twice, or
// there is no memory.
std::optional<std::vector<double>> time_reads(const std::vector<MemoryRead>& reads, std::size_t bytes_of_each,
                                              int rounds);

}  // namespace weft::topology
