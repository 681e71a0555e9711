// Vendors' libraries, asked for what the system's own files do not tell: NVML for NVIDIA's GPUs, libibverbs for RDMA
// devices. Each in a process of its own (weft-vendor), all of them until one deadline.
//
// A process is started only for a library that is there, and only if there is something to ask about. Tests name other
// files in WEFT_TEST_NVML_LIBRARY, WEFT_TEST_VERBS_LIBRARY, WEFT_TEST_CUDA_LIBRARY and WEFT_TEST_HIP_LIBRARY; these are
// asked in any case, also beside a recorded tree.
#pragma once

#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "topology/facts/readers.hpp"
#include "topology/survey.hpp"
#include "topology/vendor/helper.hpp"

namespace weft::topology {

inline constexpr int kVendorTimeoutMs = 2000;  // for all of them together

struct VendorLibraries {
  std::string nvml;  // files; empty: not asked
  std::string verbs;
  std::string cuda;  // these are only measured with
  std::string hip;
};

VendorLibraries find_vendor_libraries(const FactsSource& source);

class VendorQuery {
 public:
  // Starts the processes. `program`: empty if it is not installed, which is a remark if it was needed.
  VendorQuery(const VendorLibraries& libraries, const std::string& program, int timeout_ms = kVendorTimeoutMs);

  // Waits for the answers and adds them, and remarks on what blocked, crashed or made no sense. The survey has its
  // graph and the facts of its host. Call once.
  void finish(Survey& survey);

 private:
  struct Asked {
    std::string library;  // as weft-vendor calls it
    std::string name;     // as people do
    Result<Helper> helper;
  };
  void ask(const std::string& library, const std::string& name, const std::string& path, const std::string& program);

  int timeout_ms_;
  base::Deadline deadline_;
  std::vector<Asked> asked_;
};

}  // namespace weft::topology
