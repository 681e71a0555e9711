// What is used of NVML's binary interface: names, argument types and numbers as NVIDIA's NVML API reference documents
// them. Declared here, so that Weft is built without NVIDIA's headers.
#pragma once

namespace weft::vendor::nvml {

using Return = int;  // nvmlReturn_t
inline constexpr Return kSuccess = 0;
inline constexpr Return kInvalidArgument = 2;

using Device = struct DeviceHandle*;

struct PciInfo {  // nvmlPciInfo_t since nvmlDeviceGetPciInfo_v3
  char bus_id_legacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;
  unsigned pci_subsystem_id;
  char bus_id[32];
};

struct FieldValue {  // nvmlFieldValue_t
  unsigned field;
  unsigned scope;  // which link
  long long timestamp;
  long long latency_us;
  int type;
  Return status;
  union {
    double as_double;
    unsigned as_unsigned;
    unsigned long as_unsigned_long;
    unsigned long long as_unsigned_long_long;
    long long as_signed_long_long;
    int as_signed;
    unsigned short as_unsigned_short;
  } value;
};
inline constexpr unsigned kFieldNvLinkSpeed = 164;  // MB/s
inline constexpr unsigned kFieldC2cLinkCount = 170;
inline constexpr unsigned kFieldC2cLinkStatus = 171;
inline constexpr unsigned kFieldC2cLinkMaxSpeed = 172;  // MB/s

struct FabricInfo {  // nvmlGpuFabricInfo_v2_t
  unsigned version;
  unsigned char cluster_uuid[16];
  Return status;
  unsigned clique_id;
  unsigned char state;
  unsigned health_mask;
};
inline constexpr unsigned kFabricInfoVersion = static_cast<unsigned>(sizeof(FabricInfo)) | 2U << 24;

inline constexpr unsigned kClockSm = 1;
inline constexpr unsigned kCapabilityValid = 5;  // NVML_NVLINK_CAP_VALID
inline constexpr unsigned kRemoteGpu = 0;
inline constexpr unsigned kRemoteCpu = 1;  // IBM's NPU
inline constexpr unsigned kRemoteSwitch = 2;

using Init = Return();
using ErrorString = const char*(Return);
using GetText = Return(Device, char*, unsigned bytes);
using SystemText = Return(char*, unsigned bytes);
using GetCount = Return(unsigned*);
using GetHandle = Return(unsigned index, Device*);
using GetPciInfo = Return(Device, PciInfo*);
using GetNumber = Return(Device, unsigned*);
using GetCapability = Return(Device, int* major, int* minor);
using GetClock = Return(Device, unsigned clock, unsigned* mhz);
using GetOfLink = Return(Device, unsigned link, unsigned*);
using GetLinkCapability = Return(Device, unsigned link, unsigned capability, unsigned*);
using GetLinkPciInfo = Return(Device, unsigned link, PciInfo*);
using GetFields = Return(Device, int count, FieldValue*);
using GetFabric = Return(Device, FabricInfo*);

}  // namespace weft::vendor::nvml
