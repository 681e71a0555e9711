// The graph of a matrix of devices.
#include "topology/import/device_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "topology/machine_builder.hpp"
#include "topology/node_names.hpp"
#include "topology/rates.hpp"
#include "topology/sources.hpp"

namespace weft::topology {
namespace {

constexpr int kUnknownCount = 0;  // these tools do not tell it of XGMI
constexpr int kBridgeLinks = 4;   // between two GPUs that have no others: GA102, whose links are narrower
constexpr int kMostNvLinks = 18;  // of one GPU, up to Blackwell (NVIDIA's data sheets)

using Relation = DeviceMatrix::Relation;
using Device = DeviceMatrix::Device;

class MatrixMachine {
 public:
  explicit MatrixMachine(const DeviceMatrix& matrix) : matrix_(matrix), builder_(graph_, 0) {}

  Graph build() {
    graph_.name = "machine";
    builder_.machine(names_.take(graph_.name));
    std::set<int> indices;
    for (const Device& device : matrix_.devices) indices.insert(device.numa.begin(), device.numa.end());
    for (int index : indices) numa_[index] = builder_.numa_without_package(index, std::nullopt);
    for (std::size_t i = 0; i < matrix_.devices.size(); ++i) add(static_cast<int>(i));
    connect_nvlinks();
    for (const auto& [pair, relation] : matrix_.between)
      if (relation.xgmi)
        graph_.connect(id(pair.first), id(pair.second), LinkKind::Xgmi, rates::kXgmiUnknownGbs,
                       2 * rates::kXgmiLatencyUs, kAssumed, kUnknownCount);
    state_classes();
    return std::move(graph_);
  }

 private:
  int id(int device) const { return ids_[static_cast<std::size_t>(device)]; }
  const Device& device(int i) const { return matrix_.devices[static_cast<std::size_t>(i)]; }
  const Relation* relation(int a, int b) const {
    const auto found = matrix_.between.find(std::minmax(a, b));
    return found == matrix_.between.end() ? nullptr : &found->second;
  }

  void add(int position) {
    const Device& from = device(position);
    Node node;
    node.kind = from.kind;
    node.name = names_.take(from.name);
    node.cpus = from.cpus;
    node.parent = from.kind == NodeKind::Gpu ? home_of(from) : home_of_nic(position);
    if (from.kind == NodeKind::Nic) {
      node.names = {from.name};
      node.fabric = true;  // these tools list what verbs can drive
    }
    ids_.push_back(builder_.pci_device(std::move(node), kAssumed));
  }

  int home_of(const Device& from) const {
    return from.numa.size() == 1 ? numa_.at(from.numa.front()) : builder_.machine_id();
  }

  int home_of_nic(int nic) const {
    std::set<int> homes;
    for (int other = 0; other < nic; ++other) {
      if (device(other).kind != NodeKind::Gpu) continue;
      const Relation* near = relation(other, nic);
      if (near != nullptr && near->path_class && *near->path_class < PathClass::Sys)
        homes.insert(home_of(device(other)));
    }
    return homes.size() == 1 ? *homes.begin() : builder_.machine_id();
  }

  void connect_nvlinks() {
    std::map<int, int> sum;  // by device
    std::set<int> counts;
    for (const auto& [pair, relation] : matrix_.between) {
      if (relation.nvlinks == 0) continue;
      sum[pair.first] += relation.nvlinks;
      sum[pair.second] += relation.nvlinks;
      counts.insert(relation.nvlinks);
    }
    const bool switched = counts.size() == 1 && std::any_of(sum.begin(), sum.end(),
                                                            [](const auto& gpu) { return gpu.second > kMostNvLinks; });
    if (switched) return connect_switch(sum, *counts.begin());
    for (const auto& [pair, relation] : matrix_.between)
      if (relation.nvlinks > 0)
        graph_.connect(id(pair.first), id(pair.second), LinkKind::NvLink,
                       link_gbs(relation.nvlinks, sum.at(pair.first), sum.at(pair.second)) * relation.nvlinks,
                       2 * rates::kNvLinkLatencyUs, kAssumed, relation.nvlinks);
  }

  // These tools do not tell what GPU it is. Of GPUs with bridges those of capability 8.6 (RTX 3090, A6000, A40) are
  // by far the commonest that show NV4.
  static double link_gbs(int links, int of_first, int of_second) {
    constexpr int kGa102 = 86;
    const bool bridge = links == kBridgeLinks && of_first == links && of_second == links;
    return rates::nvlink_gbs(bridge ? std::optional(kGa102) : std::nullopt);
  }

  void connect_switch(const std::map<int, int>& gpus, int count) {
    Node node;
    node.kind = NodeKind::NvSwitch;
    node.name = names_.take("nvswitch0");
    node.parent = builder_.machine_id();
    const int fabric = graph_.add(std::move(node));
    for (const auto& [gpu, unused] : gpus)
      graph_.connect(id(gpu), fabric, LinkKind::NvLink, rates::nvlink_gbs(std::nullopt) * count,
                     rates::kNvLinkLatencyUs, kAssumed, count);
  }

  void state_classes() {
    const int count = static_cast<int>(matrix_.devices.size());
    for (int a = 0; a < count; ++a)
      for (int b = a + 1; b < count; ++b) {
        const Relation* known = relation(a, b);
        if (known != nullptr && !known->path_class && on_two_numa_nodes(a, b)) continue;
        graph_.stated.push_back(
            {id(a), id(b), known != nullptr ? known->path_class.value_or(PathClass::Unknown) : PathClass::Unknown});
      }
  }

  bool on_two_numa_nodes(int a, int b) const {
    const Node& first = graph_.nodes[static_cast<std::size_t>(id(a))];
    const Node& second = graph_.nodes[static_cast<std::size_t>(id(b))];
    return first.parent != second.parent && first.parent != builder_.machine_id() &&
           second.parent != builder_.machine_id();
  }

  const DeviceMatrix& matrix_;
  Graph graph_;
  MachineBuilder builder_;
  UniqueNames names_;
  std::map<int, int> numa_;  // by os index
  std::vector<int> ids_;     // by position in devices
};

}  // namespace

Graph graph_of(const DeviceMatrix& matrix) { return MatrixMachine(matrix).build(); }

}  // namespace weft::topology
