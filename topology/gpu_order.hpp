// How programs number the GPUs of a host, which is not how the graph numbers them: what LOCAL_RANK and
// CUDA_VISIBLE_DEVICES mean. Advice and the audit both ask here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/survey.hpp"

namespace weft::topology {

// The number that the driver's own tool gives a GPU, as NVML, rocm-smi or a file of NCCL tells it.
std::optional<int> driver_index(const Survey& survey, const Node& gpu);

enum class CountedBy {
  Driver,  // all numbers are told and differ
  BusId,   // else, if all bus ids are: as nvidia-smi counts, and CUDA with CUDA_DEVICE_ORDER=PCI_BUS_ID
  Source,  // else in the order of the source
};

struct GpuOrder {
  std::vector<int> gpus;     // node ids, as they are counted
  std::vector<int> numbers;  // of each, as lists name it
  CountedBy by = CountedBy::Driver;
  // CUDA counts so only if CUDA_DEVICE_ORDER=PCI_BUS_ID; by itself the fastest GPU comes first.
  bool cuda_must_be_told = false;
};
// Of these GPUs of one host.
GpuOrder gpu_order(const Survey& survey, const std::vector<int>& gpus);

struct VisibleGpus {
  GpuOrder order;                   // of those that are left
  std::vector<std::string> chosen;  // by these variables: "CUDA_VISIBLE_DEVICES=4,5"
  std::vector<std::string> passed;  // variables that name other things, which is as if they were not set
};
// What CUDA_VISIBLE_DEVICES, or on AMD ROCR_, then HIP_VISIBLE_DEVICES, leaves of these GPUs, by number or UUID and in
// the order of the variable.
VisibleGpus visible_gpus(const Survey& survey, int host, const std::vector<int>& gpus);

}  // namespace weft::topology
