// Fuzz target: any bytes as the content of one or two files of a recorded tree. The first byte of each half chooses
// which. Whatever they hold, there is a sound graph, or one line that says why not; where the first byte is odd, only
// the facts are read, which takes a quarter of the time.
//
// With libFuzzer: tools/fuzz tree. Without it, topology.tree_fuzz_test runs seeds and seeded mutations through it.
#include <hwloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "tests/topology/support/recorded_tree.hpp"
#include "topology/facts/read_facts.hpp"
#include "topology/record/tree.hpp"
#include "weft/graph.hpp"

namespace {

using namespace weft::topology;
using test::RecordedTree;

constexpr std::size_t kMaxContent = 1024;

// A property that does not hold ends the process: that is what fuzzers look for.
void require(bool holds) {
  if (!holds) std::abort();
}

class Machine {
 public:
  Machine() {
    // While one is there libhwloc does not look for its plug-ins again.
    require(hwloc_topology_init(&kept_) == 0);
    tree_.add_cpus(2, 2);
    const RecordedTree::Pci port{"0000:10:01.0", {}, "0x060400", "0x8086", "0x352a", "0-1", 0x11, 0x13, {}};
    const RecordedTree::Pci gpu{"0000:11:00.0",
                                {"0000:10:01.0"},
                                "0x030200",
                                "0x10de",
                                "0x2330",
                                "0-1",
                                -1,
                                -1,
                                {{"current_link_speed", "32.0 GT/s PCIe"}, {"current_link_width", "16"}}};
    const RecordedTree::Pci amd{"0000:c1:00.0",
                                {},
                                "0x120000",
                                "0x1002",
                                "0x74a1",
                                "2-3",
                                -1,
                                -1,
                                {{"xgmi_num_hops", "00 01"}, {"xgmi_num_links", "00 01"}}};
    const RecordedTree::Pci nic{"0000:20:00.0", {}, "0x020700", "0x15b3", "0x1021", "2-3", -1, -1, {}};
    for (const RecordedTree::Pci& pci : {port, gpu, amd, nic}) tree_.add_pci(pci);
    tree_.add_net("ib0", nic, "up", "400000");
    tree_.add_verbs("mlx5_0", nic, "4: ACTIVE", "400 Gb/sec (4X NDR)");
    for (const char* file :
         {"/proc/cmdline", "/proc/cpuinfo", "/proc/self/limits", "/proc/self/status", "/proc/self/environ",
          "/proc/self/numa_maps", "/proc/self/cgroup", "/proc/self/mountinfo", "/proc/net/route", "/proc/net/fib_trie",
          "/proc/net/if_inet6", "/proc/modules", "/proc/driver/nvidia/version", "/sys/class/dmi/id/sys_vendor",
          "/sys/class/infiniband/mlx5_0/ports/1/gids/0"})
      tree_.write(file, "x\n");
    for (const auto& entry : std::filesystem::recursive_directory_iterator(tree_.root()))
      if (entry.is_regular_file() && !entry.is_symlink()) files_.push_back(entry.path());
    std::sort(files_.begin(), files_.end());
    const weft::Result<Survey> survey = survey_tree(root());
    require(survey.has_value());
    untouched_ = *survey;
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() { hwloc_topology_destroy(kept_); }

  const std::string& root() const { return tree_.root(); }
  const Survey& untouched() const { return untouched_; }

  // Reads with other content in some files, which is taken back afterwards.
  template <typename Read>
  void with(const std::vector<std::string_view>& contents, Read read) {
    std::vector<std::pair<std::string, std::string>> before;
    for (std::string_view content : contents) {
      if (content.empty()) continue;
      const std::string& file = files_[static_cast<unsigned char>(content.front()) / 2U % files_.size()];
      std::ifstream in(file, std::ios::binary);
      before.emplace_back(file, std::string(std::istreambuf_iterator<char>(in), {}));
      put(file, content.substr(1));
    }
    read();
    for (auto at = before.rbegin(); at != before.rend(); ++at) put(at->first, at->second);
  }

 private:
  static void put(const std::string& file, std::string_view content) {
    std::ofstream(file, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
  }

  hwloc_topology_t kept_ = nullptr;
  RecordedTree tree_;
  std::vector<std::string> files_;
  Survey untouched_;
};

void read_whole(const Machine& machine) {
  const weft::Result<Survey> survey = survey_tree(machine.root());
  if (survey) return require(survey->graph.check().ok() && survey->hosts.size() == 1);
  const std::string message(survey.error().message());
  require(!message.empty() && message.find('\n') == std::string::npos);
}

void read_facts_alone(const Machine& machine) {
  Survey survey = machine.untouched();
  require(read_facts(machine.root(), survey).ok());
  require(survey.graph == machine.untouched().graph && survey.hosts.size() == 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  static Machine machine;
  const std::string_view text(reinterpret_cast<const char*>(data), std::min(bytes, 2 * kMaxContent));
  const bool facts_alone = bytes > 0 && data[0] % 2 == 1;
  machine.with({text.substr(0, text.size() / 2), text.substr(text.size() / 2)},
               [&] { facts_alone ? read_facts_alone(machine) : read_whole(machine); });
  return 0;
}
