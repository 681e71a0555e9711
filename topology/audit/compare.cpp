// What a machine lacks or has otherwise than it should.
#include "topology/audit/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/plural.hpp"
#include "topology/audit/host_answers.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/told.hpp"

namespace weft::topology::audit {
namespace {

constexpr double kSlack = 0.95;

// What can be missing, and where to look for it then.
struct Part {
  std::string_view name;
  std::string_view remedy;
};
constexpr Part kGpus = {
    "GPUs", "look for them in lspci and dmesg (fallen off the bus, disabled in the BIOS, not passed to the guest)"};
constexpr Part kNics = {"fabric NICs",
                        "look for the cards in lspci and dmesg, and for ports that are down in ibstat or ip link"};
constexpr Part kNvLinks = {"NVLinks", "look at nvidia-smi nvlink --status, and for Xid errors in dmesg"};
constexpr Part kPackages = {"packages",
                            "look at lscpu and dmidecode --type processor: a socket that failed its self-test or is "
                            "disabled in the BIOS; in a guest at the sockets that it was given"};
constexpr Part kNumas = {"NUMA nodes",
                         "look at numactl --hardware, numa=off in /proc/cmdline, and in the BIOS at NPS, sub-NUMA "
                         "clustering and node interleaving; in a guest at the nodes that it was given"};
constexpr Part kCores = {"cores",
                         "look at lscpu --all --extended (offline ones), maxcpus= and nosmt in /proc/cmdline, and at "
                         "cores disabled in the BIOS; in a guest at the vCPUs that it was given"};
constexpr Part kMemory = {"memory",
                          "look at dmidecode --type memory and the BIOS's event log (ipmitool sel list) for modules "
                          "that failed; in a guest at the memory that it was given"};

// One host in numbers, of both machines.
struct Profile {
  std::size_t gpus = 0;
  std::size_t nics = 0;
  std::size_t packages = 0;
  std::size_t numas = 0;
  std::optional<int> cores;
  std::optional<std::uint64_t> memory_bytes;
  std::size_t nvlinks = 0;                 // of all GPUs
  std::map<std::string, int> gpu_devices;  // by id; empty if one is not known
  std::vector<double> nic_gbs;             // known ones, the fastest first
  std::vector<double> gpu_link_gbs;        // known ones, the fastest first
  std::vector<PathClass> nearest;          // of each GPU to its NICs, the nearest first
};

std::vector<std::size_t> count_nvlinks(const Graph& graph) {
  std::vector<std::size_t> links(static_cast<std::size_t>(graph.hosts()));
  for (const Link& link : graph.links) {
    if (link.kind != LinkKind::NvLink) continue;
    for (int end : {link.a, link.b}) {
      const Node& node = graph.nodes[static_cast<std::size_t>(end)];
      if (node.kind == NodeKind::Gpu)
        links[static_cast<std::size_t>(node.host)] += static_cast<std::size_t>(link.count);
    }
  }
  return links;
}

void profile_gpus(const Input& input, const std::vector<int>& gpus, Profile& profile) {
  for (int gpu : gpus) {
    const Node& node = input.locality.node(gpu);
    if (!node.device.empty()) ++profile.gpu_devices[node.device];
    if (const std::optional<double> gbs = input.locality.pci_link_gbs(gpu); gbs && node.pci.max_gts && node.pci.width)
      profile.gpu_link_gbs.push_back(*gbs * *node.pci.max_gts / node.pci.gts.value_or(*node.pci.max_gts));
    const std::vector<int> nearest = input.locality.nearest_nics(gpu);
    if (!nearest.empty()) profile.nearest.push_back(input.locality.device_path(gpu, nearest.front()).path_class);
  }
  std::sort(profile.gpu_link_gbs.begin(), profile.gpu_link_gbs.end(), std::greater<>());
  std::sort(profile.nearest.begin(), profile.nearest.end());
}

Profile profile_of(const Input& input, int host, std::size_t nvlinks) {
  Profile profile;
  profile.gpus = accelerators(input, host).size();
  profile.nics = usable_nics(input, host).size();
  profile.nvlinks = nvlinks;
  profile.packages = input.locality.packages(host).size();
  profile.numas = numas_with_cpus(input.locality, host).size();
  for (int package : input.locality.packages(host))
    if (const std::optional<int>& cores = input.locality.node(package).cores)
      profile.cores = profile.cores.value_or(0) + *cores;
  for (int numa : input.locality.numas(host))
    if (const std::optional<std::uint64_t>& bytes = input.locality.node(numa).memory_bytes)
      profile.memory_bytes = profile.memory_bytes.value_or(0) + *bytes;
  for (int nic : usable_nics(input, host))
    if (const std::optional<double>& gbs = input.locality.node(nic).network_gbs) profile.nic_gbs.push_back(*gbs);
  std::sort(profile.nic_gbs.begin(), profile.nic_gbs.end(), std::greater<>());
  profile_gpus(input, accelerators(input, host), profile);
  return profile;
}

class Comparison {
 public:
  Comparison(const Input& input, int host, std::vector<Difference>& found)
      : input_(input), host_(host), found_(found) {}

  void counts(const Profile& here, const Profile& there) {
    count_gpus(here.gpus, there.gpus);
    count_nics(here.nics, there.nics);
    count_numas(here.numas, there.numas);
    if (here.packages > 0) count(kPackages, here.packages, there.packages);
    if (here.nvlinks > 0 || tells_nvlinks(input_.survey, input_.locality, host_))
      count(kNvLinks, here.nvlinks, there.nvlinks);
    if (here.cores && there.cores)
      count(kCores, static_cast<std::size_t>(*here.cores), static_cast<std::size_t>(*there.cores));
    if (here.memory_bytes && there.memory_bytes && *here.memory_bytes < *there.memory_bytes - *there.memory_bytes / 20)
      miss(kMemory, fmt::format("{} GiB, expected {}", *here.memory_bytes >> 30, *there.memory_bytes >> 30));
  }

  void kinds(const Profile& here, const Profile& there) {
    if (here.gpu_devices.empty() || there.gpu_devices.empty()) return;
    for (const auto& [device, number] : here.gpu_devices)
      if (!there.gpu_devices.contains(device))
        differ("GPUs", fmt::format("{} of {}, expected {}", number, device, there.gpu_devices.begin()->first));
  }

  // Position by position from the fastest or nearest: what is slower here.
  void rates(const Profile& here, const Profile& there) {
    slower("fabric NICs", "GB/s", here.nic_gbs, there.nic_gbs);
    slower("PCIe links of GPUs", "GB/s", here.gpu_link_gbs, there.gpu_link_gbs);
    const std::size_t both = std::min(here.nearest.size(), there.nearest.size());
    int farther = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i < both; ++i) {
      const bool known = here.nearest[i] < PathClass::Unknown && there.nearest[i] < PathClass::Unknown;
      if (!known || rank(here.nearest[i]) <= rank(there.nearest[i])) continue;
      if (farther++ == 0) first = i;
    }
    if (farther > 0)
      differ("nearest NICs",
             fmt::format("{} at {}, expected {}", base::plural(static_cast<std::uint64_t>(farther), "GPU"),
                         to_string(here.nearest[first]), to_string(there.nearest[first])));
  }

  // What a source may have left out is not missing.
  void count_gpus(std::size_t here, std::size_t there) {
    if (tells_gpus(input_.survey, input_.locality, host_)) count(kGpus, here, there);
  }
  void count_nics(std::size_t here, std::size_t there) {
    if (tells_nics(input_.survey, input_.locality, host_)) count(kNics, here, there);
  }
  void count_numas(std::size_t here, std::size_t there) {
    if (here > 0 && tells_all_numa_nodes(input_.survey)) count(kNumas, here, there);
  }
  void miss(const Part& part, std::string evidence) {
    found_.push_back({true, input_.on(host_, part.name), std::move(evidence), part.remedy});
  }
  void differ(std::string_view what, std::string evidence) {
    found_.push_back({false, input_.on(host_, what), std::move(evidence), {}});
  }

 private:
  void count(const Part& part, std::size_t here, std::size_t there) {
    if (here < there) miss(part, fmt::format("{}, expected {}", here, there));
  }

  // PIX and PXB are one: how many switches there are is a matter of the board.
  static int rank(PathClass path_class) { return static_cast<int>(std::max(path_class, PathClass::Pxb)); }

  void slower(std::string_view what, std::string_view unit, const std::vector<double>& here,
              const std::vector<double>& there) {
    int count = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i < std::min(here.size(), there.size()); ++i)
      if (here[i] < kSlack * there[i] && count++ == 0) first = i;
    if (count > 0)
      differ(what, fmt::format("{} of {} slower: {:.4g} {}, expected {:.4g}", count, here.size(), here[first], unit,
                               there[first]));
  }

  const Input& input_;
  int host_;
  std::vector<Difference>& found_;
};

// Of the ports that may be up: "mlx5_0 port 2", as verbs names them; of a NIC whose ports are not told singly its own.
std::vector<std::pair<std::string, std::optional<double>>> port_rates(const Input& input, int nic) {
  const std::vector<PortView> ports = ports_of_nic(input, nic);
  const Node& node = input.locality.node(nic);
  if (ports.size() < 2) return {{node.name, node.network_gbs}};
  std::vector<std::pair<std::string, std::optional<double>>> rates;
  for (const PortView& one : ports)
    if (one.port->may_be_active())
      rates.emplace_back(fmt::format("{} port {}", one.verbs, one.port->number), one.port->rate_gbs);
  return rates;
}

void compare_with_site(const Input& input, int host, std::vector<Difference>& found) {
  const Expectations& expected = input.site.expected;
  Comparison comparison(input, host, found);
  const auto size = [](const std::optional<int>& count) { return static_cast<std::size_t>(count.value_or(0)); };
  comparison.count_gpus(accelerators(input, host).size(), size(expected.gpus));
  comparison.count_numas(numas_with_cpus(input.locality, host).size(), size(expected.numa_nodes));
  comparison.count_nics(usable_nics(input, host).size(), size(expected.nics));
  if (!expected.nic_gbs) return;
  for (int nic : usable_nics(input, host))
    for (const auto& [name, gbs] : port_rates(input, nic))
      if (gbs && *gbs < kSlack * *expected.nic_gbs)
        comparison.differ(name, fmt::format("{:.4g} GB/s, expected {:.4g}", *gbs, *expected.nic_gbs));
}

void compare_with_reference(const Input& input, std::vector<Difference>& found) {
  Locality locality(input.reference->graph);
  const Site nothing;
  std::vector<HostAnswers> answers(static_cast<std::size_t>(locality.hosts()));
  const Input other{*input.reference, input.reference->graph, locality, answers, nothing};
  if (other.hosts() == 0) return;
  const std::vector<std::size_t> here_links = count_nvlinks(input.graph);
  const std::vector<std::size_t> there_links = count_nvlinks(other.graph);
  std::optional<std::pair<int, Profile>> there;  // the last one made
  for (int host = 0; host < input.hosts(); ++host) {
    const int like = std::min(host, other.hosts() - 1);
    if (!there || there->first != like)
      there.emplace(like, profile_of(other, like, there_links[static_cast<std::size_t>(like)]));
    const Profile here = profile_of(input, host, here_links[static_cast<std::size_t>(host)]);
    Comparison comparison(input, host, found);
    comparison.counts(here, there->second);
    comparison.kinds(here, there->second);
    comparison.rates(here, there->second);
  }
}

}  // namespace

std::vector<Difference> differences(const Input& input) {
  std::vector<Difference> found;
  for (int host = 0; host < input.hosts(); ++host) compare_with_site(input, host, found);
  if (input.reference != nullptr) compare_with_reference(input, found);
  return found;
}

}  // namespace weft::topology::audit
