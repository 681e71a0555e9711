// What one line says of a machine: parsed once into this, then built (model.cpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "topology/fabric/fabric_spec.hpp"
#include "topology/rates.hpp"
#include "weft/status.hpp"

namespace weft::topology {

struct ModelSpec {
  std::string name;  // the named machine it started from, or the line
  int hosts = 1;
  int packages = 1;
  int numa = 0;             // per host; 0: as many as packages
  int cores = 1;            // per NUMA node
  int gpus = 0;             // per host
  double nvlink_gbs = 0;    // each pair of GPUs
  double nvswitch_gbs = 0;  // each GPU
  int pcie_generation = 5;
  int gpus_per_switch = 2;
  int nics = 0;          // per host
  std::string nic_word;  // "ndr"; empty: none given
  rates::Rate nic_rate = {0, 0};
  std::string fabric_word;  // "flat", "tree", "rail", "rail-only"; empty: none given, which is flat
  FabricSpec fabric;
  // Named machines only.
  std::string cpu_model;
  std::string gpu_model;
  std::string gpu_device;
  std::string nic_model;
  std::string nic_device;
};

// A line: an optional name, then key:value items (weft/graph.hpp lists them), which override what the name says.
Result<ModelSpec> parse_model(std::string_view line);

}  // namespace weft::topology
