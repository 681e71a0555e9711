// A library with NVML's interface for machines that have no GPU. WEFT_TEST_VENDOR says what it plays:
//
//   mesh:N     N GPUs 0000:10:00.0, 0000:11:00.0, ..., every pair joined by two NVLinks, of which GPU 0 misses one
//   switch:N   N GPUs with 18 links each to an NVSwitch
//   c2c:N      N GPUs that are joined to the CPU by ten C2C links
//   lost:N     as switch:N, but GPU 1 has fallen off its bus
//   refuses hangs crashes chatters    in nvmlInit_v2
//
// The numbers and structures are written down anew from NVIDIA's API reference, not taken from weft-vendor.
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

struct Pci {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char text[32];
};
struct Field {
  unsigned id, scope;
  long long timestamp, latency;
  int type, status;
  unsigned long long value;
};
struct Fabric {
  unsigned version;
  unsigned char uuid[16];
  int status;
  unsigned clique;
  unsigned char state;
  unsigned health;
};

constexpr int kFine = 0;
constexpr int kInvalid = 2;
constexpr int kUnsupported = 3;
constexpr int kLost = 15;
constexpr int kMismatch = 18;

std::string_view role() {
  const char* text = std::getenv("WEFT_TEST_VENDOR");
  return text != nullptr ? text : "mesh:2";
}
std::string_view machine() { return role().substr(0, role().find(':')); }
unsigned gpus() {
  const std::size_t colon = role().find(':');
  return colon == std::string_view::npos ? 0 : static_cast<unsigned>(std::atoi(role().data() + colon + 1));
}
unsigned links() { return machine() == "mesh" ? 2 * (gpus() - 1) : machine() == "c2c" ? 0 : 18; }

std::uintptr_t number(void* gpu) { return reinterpret_cast<std::uintptr_t>(gpu) - 1; }

// GPU `from`'s link number `link` of a mesh leads to one of the others.
unsigned other(std::uintptr_t from, unsigned link) {
  const unsigned position = link / 2;
  return position < from ? position : position + 1;
}

void fill(Pci* pci, unsigned gpu) {
  *pci = {};
  pci->bus = 0x10 + gpu;
  std::snprintf(pci->text, sizeof pci->text, "00000000:%02X:00.0", pci->bus);
}

int put(char* text, unsigned bytes, std::string_view what) {
  if (what.size() >= bytes) return 7;
  std::memcpy(text, what.data(), what.size());
  text[what.size()] = '\0';
  return kFine;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  if (role() == "refuses") return kMismatch;
  if (role() == "crashes") std::raise(SIGABRT);  // AddressSanitizer would catch SIGSEGV
  while (role() == "hangs") ::pause();
  if (role() == "chatters") {
    std::printf("{\"library\": \"nonsense\"");
    std::fflush(stdout);
    std::fprintf(stderr, "warning\n");
  }
  return kFine;
}
const char* nvmlErrorString(int status) {
  return status == kMismatch ? "Driver/library version mismatch" : status == kLost ? "GPU is lost" : "Unknown Error";
}
int nvmlSystemGetDriverVersion(char* text, unsigned bytes) { return put(text, bytes, "550.54.15"); }
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = gpus();
  return kFine;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** gpu) {
  if (index >= gpus()) return kInvalid;
  if (machine() == "lost" && index == 1) return kLost;
  *gpu = reinterpret_cast<void*>(static_cast<std::uintptr_t>(index) + 1);
  return kFine;
}
int nvmlDeviceGetPciInfo_v3(void* gpu, Pci* pci) {
  fill(pci, static_cast<unsigned>(number(gpu)));
  return kFine;
}
int nvmlDeviceGetUUID(void* gpu, char* text, unsigned bytes) {
  return put(text, bytes, "GPU-" + std::to_string(number(gpu)));
}
int nvmlDeviceGetName(void*, char* text, unsigned bytes) { return put(text, bytes, "NVIDIA H100 80GB HBM3"); }
int nvmlDeviceGetSerial(void*, char*, unsigned) { return kUnsupported; }
int nvmlDeviceGetCudaComputeCapability(void*, int* major, int* minor) {
  *major = 9;
  *minor = 0;
  return kFine;
}
int nvmlDeviceGetCurrPcieLinkGeneration(void*, unsigned* generation) {
  *generation = 1;
  return kFine;
}
int nvmlDeviceGetMaxPcieLinkGeneration(void*, unsigned* generation) {
  *generation = 5;
  return kFine;
}
int nvmlDeviceGetCurrPcieLinkWidth(void*, unsigned* width) {
  *width = 16;
  return kFine;
}
int nvmlDeviceGetPerformanceState(void*, unsigned* state) {
  *state = 8;
  return kFine;
}
int nvmlDeviceGetClockInfo(void*, unsigned clock, unsigned* mhz) {
  *mhz = clock == 1 ? 345 : 0;
  return kFine;
}
int nvmlDeviceGetMaxClockInfo(void*, unsigned clock, unsigned* mhz) {
  *mhz = clock == 1 ? 1980 : 0;
  return kFine;
}
int nvmlDeviceGetGpuFabricInfoV(void*, Fabric* fabric) {
  if (fabric->version != 0x02000024) return 25;
  fabric->state = machine() == "mesh" ? 0 : 2;
  return kFine;
}
int nvmlDeviceGetNvLinkState(void* gpu, unsigned link, unsigned* active) {
  if (link >= links()) return link >= 36 ? kInvalid : kUnsupported;
  *active = machine() == "mesh" && number(gpu) == 0 && link == 0 ? 0 : 1;
  return kFine;
}
int nvmlDeviceGetNvLinkVersion(void*, unsigned, unsigned* version) {
  *version = 6;
  return kFine;
}
int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, unsigned* type) {
  *type = machine() == "mesh" ? 0 : 2;
  return kFine;
}
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void* gpu, unsigned link, Pci* pci) {
  fill(pci, machine() == "mesh" ? other(number(gpu), link) : 0xe0 + link % 4);
  return kFine;
}
int nvmlDeviceGetFieldValues(void*, int count, Field* fields) {
  for (int i = 0; i < count; ++i) {
    const bool c2c = machine() == "c2c";
    fields[i].status = kFine;
    if (fields[i].id == 164)
      fields[i].value = 26562;
    else if (fields[i].id == 170 && c2c)
      fields[i].value = 10;
    else if (fields[i].id == 171 && c2c)
      fields[i].value = 1;
    else if (fields[i].id == 172 && c2c)
      fields[i].value = 45000;
    else
      fields[i].status = kUnsupported;
  }
  return kFine;
}

}  // extern "C"
