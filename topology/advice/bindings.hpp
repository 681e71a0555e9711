// Bindings: where the ranks of a host had best run. One rank for each GPU that programs see, in the order in which they
// count them, or for each core group (else NUMA node) where there are none; each with cores of its own near its device,
// the memory node of these, and the NICs that are its nearest, evenly shared.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/locality.hpp"
#include "topology/survey.hpp"

namespace weft::topology::advice {

struct Binding {
  int device = -1;                     // node id: a GPU, a core group, a NUMA node, or the machine
  std::optional<int> index;            // of a GPU, as its driver counts; empty if that is not told
  std::string cpus;                    // list form; empty where nothing is known
  std::optional<int> memory_node;      // os index, of one that may be used
  std::optional<int> cpu_node;         // that of its CPUs, where memory is to be taken from another
  std::vector<int> nics;               // node ids, the nearest first
  std::vector<std::string> nic_names;  // as libraries know them; a card may have a device for each of its ports
  std::optional<PathClass> nic_class;  // of the farthest of these

  bool operator==(const Binding&) const = default;
};

struct HostBindings {
  int host = 0;
  std::vector<Binding> ranks;      // by local rank
  std::vector<std::string> notes;  // what is not as one would wish, what was assumed, and what was left out
  bool cuda_must_be_told = false;  // ranks count GPUs so only with CUDA_DEVICE_ORDER=PCI_BUS_ID
};

// The NICs that ranks should use: fabric NICs if there are any, else Ethernet ones; no virtual functions, none that is
// down, none much slower than the others. `left_out` tells why.
std::vector<int> usable_nics(const Survey& survey, const Locality& locality, int host,
                             std::vector<std::string>* left_out = nullptr);

HostBindings bind_host(const Survey& survey, Locality& locality, int host);
std::vector<HostBindings> bind_hosts(const Survey& survey, Locality& locality);

}  // namespace weft::topology::advice
