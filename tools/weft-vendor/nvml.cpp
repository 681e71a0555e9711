// NVML: GPUs, their PCIe links and clocks, NVLinks, C2C, and whether they have joined the fabric behind NVSwitches.
#include <cstdio>
#include <optional>
#include <string>

#include "answers.hpp"
#include "library.hpp"
#include "nvml_abi.hpp"

namespace weft::vendor {
namespace {

using base::JsonWriter;

constexpr unsigned kMaxGpus = 64;
constexpr unsigned kMaxLinks = 36;  // of one GPU: 18 up to NVLink 5, twice as many of NVLink 6
constexpr unsigned kMaxC2cLinks = 32;
constexpr unsigned kTextBytes = 96;

class Nvml {
 public:
  Nvml(const Library& library, JsonWriter& json) : library_(library), json_(json) {}

  void write() {
    const auto init = library_.find<nvml::Init>("nvmlInit_v2");
    const auto count_gpus = library_.find<nvml::GetCount>("nvmlDeviceGetCount_v2");
    if (init == nullptr || count_gpus == nullptr) return json_.member("error", "it is no NVML of this decade");
    if (const nvml::Return status = init(); status != nvml::kSuccess) return json_.member("error", why(status));
    char version[kTextBytes] = "";
    const auto driver = library_.find<nvml::SystemText>("nvmlSystemGetDriverVersion");
    if (driver != nullptr && driver(version, sizeof version) == nvml::kSuccess) json_.member("driver", text(version));
    unsigned count = 0;
    if (const nvml::Return status = count_gpus(&count); status != nvml::kSuccess)
      return json_.member("error", why(status));
    json_.begin_list("gpus");
    for (unsigned index = 0; index < count && index < kMaxGpus; ++index) write_gpu(index);
    json_.end_list();
  }

 private:
  std::string why(nvml::Return status) const {
    const auto describe = library_.find<nvml::ErrorString>("nvmlErrorString");
    const char* words = describe != nullptr ? describe(status) : nullptr;
    return (words != nullptr ? std::string(words).substr(0, kTextBytes) : "error") + " (" + std::to_string(status) +
           ")";
  }
  static std::string text(char (&bytes)[kTextBytes]) {
    bytes[kTextBytes - 1] = '\0';
    return bytes;
  }

  void write_gpu(unsigned index) {
    json_.begin_object();
    json_.member("index", index);
    const auto get = library_.find<nvml::GetHandle>("nvmlDeviceGetHandleByIndex_v2");
    nvml::Device gpu = nullptr;
    const nvml::Return status = get != nullptr ? get(index, &gpu) : nvml::kInvalidArgument;
    if (status == nvml::kSuccess)
      write_known(gpu);
    else
      json_.member("error", why(status));
    json_.end_object();
  }

  void write_known(nvml::Device gpu) {
    const auto pci = library_.find<nvml::GetPciInfo>("nvmlDeviceGetPciInfo_v3");
    nvml::PciInfo info{};
    if (pci != nullptr && pci(gpu, &info) == nvml::kSuccess) json_.member("bus_id", bus_id(info));
    write_text(gpu, "uuid", "nvmlDeviceGetUUID");
    write_text(gpu, "name", "nvmlDeviceGetName");
    write_text(gpu, "serial", "nvmlDeviceGetSerial");
    write_capability(gpu);
    write_number(gpu, "pcie_generation", "nvmlDeviceGetCurrPcieLinkGeneration");
    write_number(gpu, "pcie_width", "nvmlDeviceGetCurrPcieLinkWidth");
    write_number(gpu, "max_pcie_generation", "nvmlDeviceGetMaxPcieLinkGeneration");
    write_number(gpu, "max_pcie_width", "nvmlDeviceGetMaxPcieLinkWidth");
    write_number(gpu, "power_state", "nvmlDeviceGetPerformanceState");
    write_clock(gpu, "clock_mhz", "nvmlDeviceGetClockInfo");
    write_clock(gpu, "max_clock_mhz", "nvmlDeviceGetMaxClockInfo");
    write_fabric(gpu);
    write_links(gpu);
    write_c2c(gpu);
  }

  static std::string bus_id(const nvml::PciInfo& info) {
    char name[32];
    std::snprintf(name, sizeof name, "%04x:%02x:%02x.0", info.domain, info.bus & 0xff, info.device & 0x1f);
    return name;
  }

  void write_text(nvml::Device gpu, const char* member, const char* function) {
    const auto get = library_.find<nvml::GetText>(function);
    char bytes[kTextBytes] = "";
    if (get != nullptr && get(gpu, bytes, sizeof bytes) == nvml::kSuccess) json_.member(member, text(bytes));
  }
  void write_number(nvml::Device gpu, const char* member, const char* function) {
    const auto get = library_.find<nvml::GetNumber>(function);
    unsigned number = 0;
    if (get != nullptr && get(gpu, &number) == nvml::kSuccess) json_.member(member, number);
  }
  void write_clock(nvml::Device gpu, const char* member, const char* function) {
    const auto get = library_.find<nvml::GetClock>(function);
    unsigned mhz = 0;
    if (get != nullptr && get(gpu, nvml::kClockSm, &mhz) == nvml::kSuccess) json_.member(member, mhz);
  }
  void write_capability(nvml::Device gpu) {
    const auto get = library_.find<nvml::GetCapability>("nvmlDeviceGetCudaComputeCapability");
    int major = 0;
    int minor = 0;
    if (get != nullptr && get(gpu, &major, &minor) == nvml::kSuccess) json_.member("sm", 10 * major + minor);
  }
  void write_fabric(nvml::Device gpu) {
    const auto get = library_.find<nvml::GetFabric>("nvmlDeviceGetGpuFabricInfoV");
    nvml::FabricInfo fabric{};
    fabric.version = nvml::kFabricInfoVersion;
    if (get != nullptr && get(gpu, &fabric) == nvml::kSuccess)
      json_.member("fabric_state", static_cast<unsigned>(fabric.state));
  }

  // Of one link or of the GPU as a whole (scope 0).
  std::optional<unsigned> field(nvml::Device gpu, unsigned id, unsigned scope) const {
    const auto get = library_.find<nvml::GetFields>("nvmlDeviceGetFieldValues");
    nvml::FieldValue value{};
    value.field = id;
    value.scope = scope;
    if (get == nullptr || get(gpu, 1, &value) != nvml::kSuccess || value.status != nvml::kSuccess) return std::nullopt;
    return value.value.as_unsigned;
  }
  std::optional<unsigned> of_link(nvml::Device gpu, unsigned link, const char* function) const {
    const auto get = library_.find<nvml::GetOfLink>(function);
    unsigned value = 0;
    if (get == nullptr || get(gpu, link, &value) != nvml::kSuccess) return std::nullopt;
    return value;
  }

  // A GPU without NVLink refuses all of them, one with fewer the rest.
  void write_links(nvml::Device gpu) {
    const auto state = library_.find<nvml::GetOfLink>("nvmlDeviceGetNvLinkState");
    if (state == nullptr) return;
    json_.begin_list("nvlinks");
    for (unsigned link = 0; link < kMaxLinks; ++link) {
      unsigned active = 0;
      const nvml::Return status = state(gpu, link, &active);
      if (status == nvml::kInvalidArgument) break;
      if (status == nvml::kSuccess && is_wired(gpu, link)) write_link(gpu, link, active != 0);
    }
    json_.end_list();
  }

  // Chips have more links than some of their boards use.
  bool is_wired(nvml::Device gpu, unsigned link) const {
    const auto get = library_.find<nvml::GetLinkCapability>("nvmlDeviceGetNvLinkCapability");
    unsigned valid = 0;
    return get == nullptr || get(gpu, link, nvml::kCapabilityValid, &valid) != nvml::kSuccess || valid != 0;
  }

  void write_link(nvml::Device gpu, unsigned link, bool active) {
    json_.begin_object();
    json_.member("index", link);
    json_.member("active", active);
    if (const auto version = of_link(gpu, link, "nvmlDeviceGetNvLinkVersion")) json_.member("version", *version);
    if (active) {
      if (const auto speed = field(gpu, nvml::kFieldNvLinkSpeed, link)) json_.member("mbs", *speed);
      write_remote(gpu, link);
    }
    json_.end_object();
  }

  void write_remote(nvml::Device gpu, unsigned link) {
    const std::optional<unsigned> type = of_link(gpu, link, "nvmlDeviceGetNvLinkRemoteDeviceType");
    if (type == nvml::kRemoteGpu) json_.member("remote_kind", "gpu");
    if (type == nvml::kRemoteCpu) json_.member("remote_kind", "cpu");
    if (type == nvml::kRemoteSwitch) json_.member("remote_kind", "switch");
    const auto pci = library_.find<nvml::GetLinkPciInfo>("nvmlDeviceGetNvLinkRemotePciInfo_v2");
    nvml::PciInfo info{};
    if (pci != nullptr && pci(gpu, link, &info) == nvml::kSuccess) json_.member("remote_bus_id", bus_id(info));
  }

  // NVLink-C2C to a CPU: how many links are up, and what each can do.
  void write_c2c(nvml::Device gpu) {
    const std::optional<unsigned> count = field(gpu, nvml::kFieldC2cLinkCount, 0);
    if (!count || *count == 0) return;
    unsigned up = 0;
    unsigned mbs = 0;
    for (unsigned link = 0; link < *count && link < kMaxC2cLinks; ++link) {
      if (field(gpu, nvml::kFieldC2cLinkStatus, link).value_or(0) != 1) continue;
      ++up;
      mbs = field(gpu, nvml::kFieldC2cLinkMaxSpeed, link).value_or(mbs);
    }
    json_.begin_object("c2c");
    json_.member("count", up);
    if (mbs != 0) json_.member("mbs", mbs);
    json_.end_object();
  }

  const Library& library_;
  JsonWriter& json_;
};

}  // namespace

void ask_nvml(const std::string& path, JsonWriter& json) {
  const Library library(path);
  if (!library) return json.member("error", library.error());
  Nvml(library, json).write();
}

}  // namespace weft::vendor
