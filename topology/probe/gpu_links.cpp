// Phase gpu_links: NVLink and XGMI between GPUs, from the bandwidth matrices that hwloc's vendor back-ends write (MB/s,
// one direction). Links to NVSwitch devices become one NvSwitch node per machine; links to a package are kept as they
// are.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "topology/probe/machine_probe.hpp"
#include "topology/rates.hpp"

namespace weft::topology {
namespace {

constexpr std::uint64_t kSelfMark = 1'000'000;  // what the matrices hold on the diagonal
double gbs_of(std::uint64_t mbs) { return static_cast<double>(mbs) / 1000; }

// Of XGMI it is not told.
int count_of(LinkKind kind, std::uint64_t mbs) {
  return kind == LinkKind::NvLink ? rates::nvlink_count(gbs_of(mbs)) : 0;
}

class GpuLinks {
 public:
  explicit GpuLinks(MachineProbe& probe) : probe_(probe) {}

  void read(std::string_view name, LinkKind kind, double latency_us) {
    const auto& matrices = probe_.tree.matrices;
    const auto matrix = std::find_if(matrices.begin(), matrices.end(), [&](const auto& m) { return m.name == name; });
    if (matrix == matrices.end()) return;
    for (std::size_t a = 0; a < matrix->objects.size(); ++a)
      for (std::size_t b = a + 1; b < matrix->objects.size(); ++b)
        add(matrix->objects[a], matrix->objects[b], matrix->value(a, b), kind, latency_us);
    for (const auto& [gpu, mbs] : to_switch_)
      probe_.graph.connect(gpu, nvswitch(), LinkKind::NvLink, gbs_of(mbs), rates::kNvLinkLatencyUs, probe_.source,
                           count_of(LinkKind::NvLink, mbs));
    to_switch_.clear();
  }

 private:
  // The node an object of the matrix stands for, or -1. OS devices stand for the PCI device they are on.
  int node_for(int object) const {
    for (; object >= 0; object = probe_.tree.at(object).parent) {
      if (const int node = probe_.node_of_object(object); node >= 0) return node;
      if (probe_.tree.at(object).kind != ObjectKind::OsDevice) return -1;
    }
    return -1;
  }
  bool is_nvswitch(int object) const { return probe_.tree.at(object).subtype == "NVSwitch"; }

  void add(int a, int b, std::uint64_t mbs, LinkKind kind, double latency_us) {
    if (a < 0 || b < 0 || mbs == 0 || mbs == kSelfMark) return;
    if (is_nvswitch(a)) std::swap(a, b);
    const int from = node_for(a);
    if (from < 0) return;
    if (is_nvswitch(b)) {
      to_switch_[from] += mbs;
      return;
    }
    const int to = node_for(b);
    if (to < 0 || to == from) return;
    probe_.graph.connect(from, to, kind, gbs_of(mbs), latency_us, probe_.source, count_of(kind, mbs));
  }

  int nvswitch() {
    if (nvswitch_ >= 0) return nvswitch_;
    Node node;
    node.kind = NodeKind::NvSwitch;
    node.name = probe_.unique_name("nvswitch0");
    node.parent = probe_.builder.machine_id();
    return nvswitch_ = probe_.graph.add(std::move(node));
  }

  MachineProbe& probe_;
  std::map<int, std::uint64_t> to_switch_;
  int nvswitch_ = -1;
};

}  // namespace

void probe_gpu_links(MachineProbe& probe) {
  GpuLinks links(probe);
  links.read("NVLinkBandwidth", LinkKind::NvLink, 2 * rates::kNvLinkLatencyUs);
  links.read("XGMIBandwidth", LinkKind::Xgmi, 2 * rates::kXgmiLatencyUs);
}

}  // namespace weft::topology
