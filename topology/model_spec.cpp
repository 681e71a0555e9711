// Lines and names of machine models.
#include "topology/model_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "base/parse.hpp"
#include "topology/limits.hpp"
#include "topology/text.hpp"
#include "weft/graph.hpp"

namespace weft::topology {
namespace {

struct Named {
  std::string_view name;
  std::string_view line;
  std::string_view cpu_model;
  std::string_view gpu_model;
  std::string_view gpu_device;
  std::string_view nic_model;
  std::string_view nic_device;
};

// From the vendors' pages: DGX H100 and DGX A100 user guides (sockets, cores, NVSwitch, compute NICs), AWS's page of P5
// instances (2 sockets of 48 cores, 8 H100, 32 EFA devices of 100 Gbit/s). GPUs per switch as `nvidia-smi topo -m`
// shows it on such machines.
constexpr Named kNamed[] = {
    {"dgx-h100", "packages:2 cores:56 gpu:8 nvswitch:450 pcie:5 gpus_per_switch:1 nic:8 ndr",
     "Intel(R) Xeon(R) Platinum 8480C", "NVIDIA H100 80GB HBM3", "10de:2330", "ConnectX-7", "15b3:1021"},
    {"dgx-a100", "packages:2 numa:8 cores:16 gpu:8 nvswitch:300 pcie:4 gpus_per_switch:2 nic:8 hdr",
     "AMD EPYC 7742 64-Core Processor", "NVIDIA A100-SXM4-80GB", "10de:20b2", "ConnectX-6", "15b3:101b"},
    {"p5.48xlarge", "packages:2 cores:48 gpu:8 nvswitch:450 pcie:5 gpus_per_switch:1 nic:32 efa100",
     "AMD EPYC 7R13 Processor", "NVIDIA H100 80GB HBM3", "10de:2330", "Elastic Fabric Adapter", "1d0f:efa2"},
    {"pcie-8gpu", "packages:2 cores:32 gpu:8 pcie:4 gpus_per_switch:4 nic:2 hdr", "AMD EPYC 7513 32-Core Processor",
     "NVIDIA A40", "10de:2235", "ConnectX-6", "15b3:101b"},
    {"cpu-2socket", "packages:2 cores:32", "Intel(R) Xeon(R) Gold 6338", "", "", "", ""},
};

constexpr std::string_view kItems =
    "hosts, packages, numa, cores, gpu, nvlink, nvswitch, pcie, gpus_per_switch, nic, edr, hdr, ndr, xdr, efa100, "
    "efa200, efa400, slingshot, eth, fabric, levels, leaf_hosts, pod_hosts, oversubscription";

Status bad(std::string message) { return Status(Code::InvalidArgument, "topology model: " + std::move(message)); }

// A host as large as one that is read from a file; all of them as many as a report shows in time.
constexpr int kMaxGpusOfHost = 1024;
constexpr int kMaxNicsOfHost = 1024;
constexpr long long kMaxModelNodes = 300'000;
constexpr long long kMaxModelSteps = 6'000'000;

struct CountItem {
  std::string_view key;
  int ModelSpec::*field;
  int least;
  int most;
};
constexpr CountItem kCounts[] = {
    {"hosts", &ModelSpec::hosts, 1, kMaxHosts},
    {"packages", &ModelSpec::packages, 1, 64},
    {"numa", &ModelSpec::numa, 1, 256},
    {"cores", &ModelSpec::cores, 1, 4096},
    {"gpu", &ModelSpec::gpus, 0, kMaxGpusOfHost},
    {"pcie", &ModelSpec::pcie_generation, 3, 6},
    {"gpus_per_switch", &ModelSpec::gpus_per_switch, 1, kMaxGpusOfHost},
    {"nic", &ModelSpec::nics, 0, kMaxNicsOfHost},
};

Status read_count(const CountItem& item, std::string_view value, ModelSpec& spec) {
  int number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || number < item.least || number > item.most)
    return bad(fmt::format("{}:{} needs a whole number from {} to {}", item.key, value, item.least, item.most));
  spec.*item.field = number;
  return {};
}

Status read_rate(std::string_view key, std::string_view value, double& rate) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || !std::isfinite(number) || number < 1e-3 ||
      number > 1e6)
    return bad(fmt::format("{}:{} needs a number from 0.001 to 1000000", key, value));
  rate = number;
  return {};
}

Status set_nic(ModelSpec& spec, std::string_view word, rates::Rate rate) {
  spec.nic_word = word;
  spec.nic_rate = rate;
  return {};
}

struct FabricCount {
  std::string_view key;
  int FabricSpec::*field;
  int most;
};
constexpr FabricCount kFabricCounts[] = {{"levels", &FabricSpec::levels, 3},
                                         {"leaf_hosts", &FabricSpec::leaf_hosts, kMaxHosts},
                                         {"pod_hosts", &FabricSpec::pod_hosts, kMaxHosts}};

// Of the leaves, then of the pods: "7" stands for the highest level, "2,7" for both.
Status read_oversubscription(std::string_view value, ModelSpec& spec) {
  const std::vector<std::string_view> parts = base::split(value, ',');
  if (parts.size() > 2) return bad(fmt::format("oversubscription:{} has more than two numbers", value));
  WEFT_TRY(read_rate("oversubscription", parts.back(), spec.fabric.pod_oversubscription));
  if (parts.size() == 2) WEFT_TRY(read_rate("oversubscription", parts.front(), spec.fabric.leaf_oversubscription));
  if (std::min(spec.fabric.pod_oversubscription, spec.fabric.leaf_oversubscription) < 1)
    return bad(fmt::format("oversubscription:{} is below 1, which is none", value));
  return {};
}

// False: the word is none of the network's.
Result<bool> read_fabric_item(std::string_view key, std::string_view value, ModelSpec& spec) {
  for (const FabricCount& item : kFabricCounts) {
    if (item.key != key) continue;
    const std::optional<int> number = base::parse_integer(value);
    if (!number || *number < 1 || *number > item.most)
      return bad(fmt::format("{}:{} needs a whole number from 1 to {}", key, value, item.most));
    spec.fabric.*item.field = *number;
    return true;
  }
  if (key == "oversubscription") {
    WEFT_TRY(read_oversubscription(value, spec));
    return true;
  }
  if (key != "fabric") return false;
  if (value != "flat" && value != "tree" && value != "rail" && value != "rail-only")
    return bad(fmt::format("fabric:{} is unknown; give flat, tree, rail or rail-only", value));
  spec.fabric_word = value;
  spec.fabric.rails = value == "rail" ? Rails::Joined : value == "rail-only" ? Rails::Only : Rails::None;
  return true;
}

Status read_item(std::string_view word, ModelSpec& spec) {
  if (const std::optional<rates::Rate> rate = rates::network_rate(word)) return set_nic(spec, word, *rate);
  const std::size_t colon = word.find(':');
  const std::string_view key = word.substr(0, colon);
  const std::string_view value = colon == std::string_view::npos ? std::string_view() : word.substr(colon + 1);
  for (const CountItem& item : kCounts)
    if (item.key == key) return read_count(item, value, spec);
  if (key == "nvlink") return read_rate(key, value, spec.nvlink_gbs);
  if (key == "nvswitch") return read_rate(key, value, spec.nvswitch_gbs);
  if (key == "eth") {
    double gbits = 0;
    WEFT_TRY(read_rate(key, value, gbits));
    return set_nic(spec, "eth", {gbits / 8, rates::kEthernetLatencyUs});
  }
  WEFT_TRY_ASSIGN(const bool of_fabric, read_fabric_item(key, value, spec));
  if (of_fabric) return {};
  return bad(fmt::format("unknown word \"{}\"; write key:value items of {}, or start with one of {}", word, kItems,
                         fmt::join(model_names(), ", ")));
}

// Two NIC rates count as the same item, so "hdr ndr" is refused.
std::string_view key_of(std::string_view word) {
  const std::string_view key = word.substr(0, word.find(':'));
  return key == "eth" || rates::network_rate(key) ? "NIC rate" : key;
}

// Gives the keys of the line.
Result<std::set<std::string_view>> read_items(std::string_view line, ModelSpec& spec) {
  std::set<std::string_view> seen;
  for (std::string_view word : words_of(line)) {
    WEFT_TRY(read_item(word, spec));
    if (!seen.insert(key_of(word)).second) return bad(fmt::format("{} is given twice", key_of(word)));
  }
  return seen;
}

// Completes what the words leave open.
Status check_fabric_words(ModelSpec& spec, const std::set<std::string_view>& words) {
  FabricSpec& fabric = spec.fabric;
  const bool shaped = !spec.fabric_word.empty() && spec.fabric_word != "flat";
  for (std::string_view key : {"levels", "leaf_hosts", "pod_hosts", "oversubscription"})
    if (!shaped && words.contains(key))
      return bad(fmt::format("{} says how a tree is built; add fabric:tree, fabric:rail or fabric:rail-only", key));
  if (!shaped) return {};
  if (!words.contains("levels")) fabric.levels = words.contains("pod_hosts") ? 3 : 2;
  if (fabric.levels < 3) {
    if (words.contains("pod_hosts")) return bad("pod_hosts needs levels:3");
    fabric.leaf_oversubscription = std::max(fabric.leaf_oversubscription, fabric.pod_oversubscription);
    fabric.pod_oversubscription = 1;
  }
  fill_defaults(fabric, spec.nics);
  return check_fabric(fabric).with_context("topology model");
}

// What stands in the way of a report in time, of which every GPU's paths on its host are a part.
Status check_size(const ModelSpec& spec) {
  const long long gpus = static_cast<long long>(spec.gpus) * spec.hosts;
  if (gpus > kMaxGpus)
    return bad(fmt::format("{} GPUs on {} hosts are {}; the most is {}", spec.gpus, spec.hosts, gpus, kMaxGpus));
  const long long of_host = 1 + spec.packages + 2LL * spec.numa + 3LL * spec.gpus + 2LL * spec.nics;
  if (const long long nodes = of_host * spec.hosts; nodes > kMaxModelNodes)
    return bad(fmt::format("about {} nodes on each of {} hosts are {}; the most is {}", of_host, spec.hosts, nodes,
                           kMaxModelNodes));
  const long long links = of_host + (spec.nvlink_gbs > 0 ? spec.gpus * (spec.gpus - 1LL) / 2 : 0);
  if (const long long steps = links * gpus; steps > kMaxModelSteps)
    return bad(
        fmt::format("{} GPUs that each have to find their way over about {} links of a host take {} steps; the "
                    "most is {}; give fewer GPUs or NICs to a host, or fewer hosts",
                    gpus, links, steps, kMaxModelSteps));
  return {};
}

Status check_spec(ModelSpec& spec) {
  if (spec.numa == 0) spec.numa = spec.packages;
  if (spec.numa % spec.packages != 0)
    return bad(fmt::format("numa:{} is not a multiple of packages:{}", spec.numa, spec.packages));
  if (spec.nvlink_gbs > 0 && spec.nvswitch_gbs > 0) return bad("nvlink and nvswitch exclude each other; give one");
  if (spec.gpus < 2 && spec.nvlink_gbs > 0)
    return bad(fmt::format("nvlink joins pairs of GPUs, but there are gpu:{}", spec.gpus));
  if (spec.gpus < 1 && spec.nvswitch_gbs > 0) return bad("nvswitch joins GPUs, but there are none; add gpu:N");
  if (spec.nvlink_gbs > 0 && spec.gpus > 64)
    return bad(fmt::format("nvlink joins all pairs and serves up to 64 GPUs, not {}; use nvswitch", spec.gpus));
  if (spec.nics > 0 && spec.nic_word.empty())
    return bad(
        fmt::format("nic:{} needs a rate, one of edr hdr ndr xdr efa100 efa200 efa400 slingshot eth:GBITS", spec.nics));
  if (spec.nics == 0 && !spec.nic_word.empty())
    return bad(fmt::format("{} is a NIC's rate, but there are no NICs; add nic:N", spec.nic_word));
  return check_size(spec);
}

const Named* named(std::string_view word) {
  const auto* found =
      std::find_if(std::begin(kNamed), std::end(kNamed), [&](const Named& n) { return n.name == word; });
  return found == std::end(kNamed) ? nullptr : found;
}

void set_names(const Named& machine, ModelSpec& spec) {
  spec.cpu_model = machine.cpu_model;
  spec.gpu_model = machine.gpu_model;
  spec.gpu_device = machine.gpu_device;
  spec.nic_model = machine.nic_model;
  spec.nic_device = machine.nic_device;
}

// Overriding the NICs or GPUs of a named machine makes them other devices.
void forget_replaced(std::string_view items, ModelSpec& spec) {
  for (std::string_view word : words_of(items))
    if (key_of(word) == "NIC rate") spec.nic_model.clear(), spec.nic_device.clear();
}

}  // namespace

std::vector<std::string_view> model_names() {
  std::vector<std::string_view> names;
  for (const Named& machine : kNamed) names.push_back(machine.name);
  return names;
}

Result<ModelSpec> parse_model(std::string_view line) {
  if (line.size() > 4096) return bad("the line is longer than 4096 characters");
  const std::vector<std::string_view> parts = words_of(line);
  if (parts.empty())
    return bad(fmt::format("the line is empty; write key:value items of {}, or one of {}", kItems,
                           fmt::join(model_names(), ", ")));
  ModelSpec spec;
  spec.name = fmt::format("{}", fmt::join(parts, " "));
  std::string_view items = line;
  if (const Named* machine = named(parts.front())) {
    WEFT_TRY(read_items(machine->line, spec).status());
    set_names(*machine, spec);
    items = line.substr(static_cast<std::size_t>(parts.front().data() + parts.front().size() - line.data()));
    forget_replaced(items, spec);
  }
  WEFT_TRY_ASSIGN(const std::set<std::string_view> words, read_items(items, spec));
  WEFT_TRY(check_spec(spec));
  WEFT_TRY(check_fabric_words(spec, words));
  return spec;
}

}  // namespace weft::topology
