// What weft-vendor says of a library, as values. Reading is strict: what is not as expected is Corrupt and names its
// place.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/status.hpp"

namespace weft::topology {

struct NvmlLink {
  int index = 0;
  bool active = false;
  std::optional<int> version;  // as NVML counts: 6 is NVLink 4
  std::optional<int> mbs;      // MB/s
  std::optional<std::string> remote_kind;
  std::optional<std::string> remote_bus_id;

  bool operator==(const NvmlLink&) const = default;
};

struct NvmlC2c {
  int count = 0;           // links that are up
  std::optional<int> mbs;  // of each

  bool operator==(const NvmlC2c&) const = default;
};

struct NvmlGpu {
  int index = 0;
  std::optional<std::string> error;  // this GPU cannot be asked
  std::optional<std::string> bus_id;
  std::optional<std::string> uuid;
  std::optional<std::string> name;
  std::optional<std::string> serial;
  std::optional<int> sm;
  std::optional<int> pcie_generation;
  std::optional<int> pcie_width;
  std::optional<int> max_pcie_generation;
  std::optional<int> max_pcie_width;
  std::optional<int> power_state;
  std::optional<int> clock_mhz;
  std::optional<int> max_clock_mhz;
  std::optional<int> fabric_state;
  std::vector<NvmlLink> nvlinks;
  std::optional<NvmlC2c> c2c;

  bool operator==(const NvmlGpu&) const = default;
};

struct NvmlAnswer {
  std::optional<std::string> error;  // the library does not work at all
  std::optional<std::string> driver;
  std::vector<NvmlGpu> gpus;
};

struct VerbsPort {
  int number = 1;
  int state = 0;       // of ibv_port_state: 4 is active
  int active_mtu = 0;  // of ibv_mtu: 3 is 1024
  int max_mtu = 0;

  bool operator==(const VerbsPort&) const = default;
};

struct VerbsAnswer {
  struct Device {
    std::string name;
    std::optional<std::string> error;
    std::vector<VerbsPort> ports;
  };

  std::optional<std::string> error;
  std::vector<Device> devices;
};

Result<NvmlAnswer> read_nvml_answer(std::string_view json);
Result<VerbsAnswer> read_verbs_answer(std::string_view json);

}  // namespace weft::topology
