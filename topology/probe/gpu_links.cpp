// Phase gpu_links: NVLink and XGMI between GPUs, from the bandwidth matrices that hwloc's vendor back-ends write (MB/s,
// one direction). Links to NVSwitch devices become one NvSwitch node per machine; links to a package are kept as they
// are.
#include <hwloc.h>
#include <hwloc/distances.h>

#include <map>
#include <string_view>
#include <utility>

#include "topology/probe/machine_probe.hpp"
#include "topology/rates.hpp"

namespace weft::topology {
namespace {

constexpr hwloc_uint64_t kSelfMark = 1'000'000;  // what the matrices hold on the diagonal
double gbs_of(hwloc_uint64_t mbs) { return static_cast<double>(mbs) / 1000; }

int count_of(LinkKind kind, hwloc_uint64_t mbs) {
  return kind == LinkKind::NvLink ? rates::nvlink_count(gbs_of(mbs)) : 1;
}

class GpuLinks {
 public:
  explicit GpuLinks(MachineProbe& probe) : probe_(probe) {}

  void read(const char* matrix, LinkKind kind, double latency_us) {
    hwloc_distances_s* found = nullptr;
    unsigned count = 1;
    if (hwloc_distances_get_by_name(probe_.hwloc, matrix, &count, &found, 0) != 0 || count == 0) return;
    for (unsigned a = 0; a < found->nbobjs; ++a)
      for (unsigned b = a + 1; b < found->nbobjs; ++b)
        add(found->objs[a], found->objs[b], found->values[a * found->nbobjs + b], kind, latency_us);
    hwloc_distances_release(probe_.hwloc, found);
    for (const auto& [gpu, mbs] : to_switch_)
      probe_.graph.connect(gpu, nvswitch(), LinkKind::NvLink, gbs_of(mbs), rates::kNvLinkLatencyUs, probe_.source,
                           count_of(LinkKind::NvLink, mbs));
    to_switch_.clear();
  }

 private:
  // The node an object of the matrix stands for, or -1. OS devices stand for the PCI device they are on.
  int node_for(hwloc_obj_t object) const {
    for (; object != nullptr; object = object->parent) {
      if (const auto found = probe_.node_of.find(object); found != probe_.node_of.end()) return found->second;
      if (object->type != HWLOC_OBJ_OS_DEVICE) return -1;
    }
    return -1;
  }
  static bool is_nvswitch(hwloc_obj_t object) {
    return object->subtype != nullptr && std::string_view(object->subtype) == "NVSwitch";
  }

  void add(hwloc_obj_t a, hwloc_obj_t b, hwloc_uint64_t mbs, LinkKind kind, double latency_us) {
    if (a == nullptr || b == nullptr || mbs == 0 || mbs == kSelfMark) return;
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
  std::map<int, hwloc_uint64_t> to_switch_;
  int nvswitch_ = -1;
};

}  // namespace

void probe_gpu_links(MachineProbe& probe) {
  GpuLinks links(probe);
  links.read("NVLinkBandwidth", LinkKind::NvLink, 2 * rates::kNvLinkLatencyUs);
  links.read("XGMIBandwidth", LinkKind::Xgmi, 2 * rates::kXgmiLatencyUs);
}

}  // namespace weft::topology
