// Rank 0's offer by way of PMIx, the way in which mpirun of Open MPI talks to the processes that it starts. The library
// is loaded when it is needed, so that Weft does not depend on it; what is used of its binary interface has stood since
// PMIx 2.
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/launch/launch.hpp"
#include "base/launch/loaded_mpi.hpp"
#include "base/sanitizers.hpp"

namespace weft::base {
namespace {

constexpr const char* kLibrary = "libpmix.so.2";
constexpr const char* kKey = "weft.rendezvous";

// From pmix_common.h of PMIx 2 to 5.
constexpr std::uint16_t kPmixString = 3;
constexpr std::uint16_t kPmixInt = 6;
constexpr std::uint8_t kPmixGlobal = 3;
constexpr int kPmixSuccess = 0;

struct PmixProcess {
  char name_space[256];
  std::uint32_t rank;
};

struct PmixValue {
  std::uint16_t type;
  union {
    char* string;
    int integer;
    void* largest[3];
  } data;
};

struct PmixInfo {
  char key[512];
  std::uint32_t flags;
  PmixValue value;
};

struct Pmix {
  int (*init)(PmixProcess* self, const PmixInfo* info, std::size_t count) = nullptr;
  int (*put)(std::uint8_t scope, const char* key, PmixValue* value) = nullptr;
  int (*commit)() = nullptr;
  int (*fence)(const PmixProcess* processes, std::size_t count, const PmixInfo* info, std::size_t infos) = nullptr;
  int (*get)(const PmixProcess* process, const char* key, const PmixInfo* info, std::size_t count,
             PmixValue** value) = nullptr;
  int (*finalize)(const PmixInfo* info, std::size_t count) = nullptr;
  const char* (*error_string)(int status) = nullptr;
};

template <typename Function>
bool load(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  return function != nullptr;
}

// The library stays loaded: it has a thread and exit handlers of its own, and the application's MPI may share it.
Result<Pmix> load_pmix() {
  void* const library = ::dlopen(kLibrary, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    const char* const reason = ::dlerror();
    return Status(Code::Unsupported, fmt::format("{} cannot be loaded ({}); on Debian it is in the package libpmix2",
                                                 kLibrary, reason != nullptr ? reason : "no reason given"));
  }
  Pmix pmix;
  const bool complete = load(library, "PMIx_Init", pmix.init) && load(library, "PMIx_Put", pmix.put) &&
                        load(library, "PMIx_Commit", pmix.commit) && load(library, "PMIx_Fence", pmix.fence) &&
                        load(library, "PMIx_Get", pmix.get) && load(library, "PMIx_Finalize", pmix.finalize) &&
                        load(library, "PMIx_Error_string", pmix.error_string);
  if (!complete)
    return Status(Code::Unsupported, fmt::format("{} lacks one of PMIx's functions: {}", kLibrary, ::dlerror()));
  return pmix;
}

PmixInfo timeout_info(Deadline deadline) {
  PmixInfo info{};
  std::strcpy(info.key, "pmix.timeout");
  info.value.type = kPmixInt;
  info.value.data.integer = std::max(1, (deadline.remaining_ms() + 999) / 1000);
  return info;
}

Result<std::string> exchange(const Pmix& pmix, const PmixProcess& self, const ExchangeCall& call) {
  const auto failed = [&](const char* what, int status) {
    return Status(Code::SystemError, fmt::format("{}: {}", what, pmix.error_string(status)));
  };
  if (call.rank == 0) {
    std::string offer = call.offer;
    PmixValue value{};
    value.type = kPmixString;
    value.data.string = offer.data();
    if (const int status = pmix.put(kPmixGlobal, kKey, &value); status != kPmixSuccess)
      return failed("PMIx_Put", status);
    if (const int status = pmix.commit(); status != kPmixSuccess) return failed("PMIx_Commit", status);
  }
  const PmixInfo fence_timeout = timeout_info(call.deadline);
  if (const int status = pmix.fence(nullptr, 0, &fence_timeout, 1); status != kPmixSuccess)
    return failed("PMIx_Fence", status);

  PmixProcess rank_0 = self;
  rank_0.rank = 0;
  PmixValue* value = nullptr;
  const PmixInfo get_timeout = timeout_info(call.deadline);
  if (const int status = pmix.get(&rank_0, kKey, &get_timeout, 1, &value); status != kPmixSuccess)
    return failed("PMIx_Get", status);
  if (value == nullptr || value->type != kPmixString) return Status(Code::Corrupt, "PMIx_Get gave no text");
  std::string offer = value->data.string;
  // As PMIX_VALUE_RELEASE does for a text.
  std::free(value->data.string);
  std::free(value);
  return offer;
}

// Called once per process, see launch_helpers(). A forked child that exits has no say in it.
void end_with_process(int (*finalize)(const PmixInfo*, std::size_t)) {
  static int (*at_exit)(const PmixInfo*, std::size_t) = nullptr;
  static pid_t process = 0;
  at_exit = finalize;
  process = ::getpid();
  static_cast<void>(std::atexit([] {
    if (::getpid() == process) at_exit(nullptr, 0);
  }));
}

}  // namespace

Result<std::string> exchange_by_pmix(const ExchangeCall& call) {
  if (!call.environment.has("PMIX_NAMESPACE")) {
    return Status(Code::InvalidArgument, "PMIX_NAMESPACE is not set: this process was not started by mpirun itself");
  }
  const OthersMayLeak libpmix;  // 4.2 loses five bytes
  WEFT_TRY_ASSIGN(const Pmix pmix, load_pmix());
  PmixProcess self{};
  if (const int status = pmix.init(&self, nullptr, 0); status != kPmixSuccess) {
    return Status(Code::SystemError, fmt::format("PMIx_Init: {}", pmix.error_string(status)));
  }
  auto offer = exchange(pmix, self, call);
  // Initialisations are counted, so this one of ours may end. But PMIx cannot start again once the last has ended; so
  // if an MPI may still come to it, ours ends with the process (without any end mpirun would report a crash).
  if (mpi_is_loaded()) {
    end_with_process(pmix.finalize);
    return offer;
  }
  const int finalized = pmix.finalize(nullptr, 0);
  if (offer.has_value() && finalized != kPmixSuccess) {
    return Status(Code::SystemError, fmt::format("PMIx_Finalize: {}", pmix.error_string(finalized)));
  }
  return offer;
}

}  // namespace weft::base
