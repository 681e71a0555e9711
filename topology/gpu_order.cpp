// Numbers and lists of GPUs.
#include "topology/gpu_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "base/parse.hpp"
#include "topology/device_facts.hpp"

namespace weft::topology {
namespace {

// "nvml3": 3.
std::optional<int> number_after(std::string_view name, std::string_view start) {
  if (!name.starts_with(start)) return std::nullopt;
  const std::optional<int> number = base::parse_integer(name.substr(start.size()));
  return number && *number >= 0 ? number : std::nullopt;
}

const Node& node_of(const Survey& survey, int id) { return survey.graph.nodes[static_cast<std::size_t>(id)]; }

bool tells(const Survey& survey, std::string_view tool) { return survey.source.find(tool) != std::string::npos; }

bool is_made_by(const Survey& survey, const Node& gpu, std::string_view vendor, std::string_view tool) {
  return gpu.device.empty() ? tells(survey, tool) : gpu.device.starts_with(vendor);
}
bool is_nvidia(const Survey& survey, const Node& gpu) { return is_made_by(survey, gpu, "10de:", "nvidia-smi"); }
bool is_amd(const Survey& survey, const Node& gpu) { return is_made_by(survey, gpu, "1002:", "rocm-smi"); }

bool has_uuid(const Survey& survey, const Node& gpu, std::string_view word) {
  constexpr std::string_view kStart = "GPU-";
  const DeviceFacts* facts = device_facts(survey, gpu);
  if (facts == nullptr || !facts->uuid || !word.starts_with(kStart) || word.size() == kStart.size()) return false;
  const std::string_view uuid = *facts->uuid;
  return uuid.starts_with(word) || uuid.starts_with(word.substr(kStart.size()));
}

// The GPUs that a list names; nothing where it names none, or other things. As for CUDA, what stands behind a
// negative number does not count.
std::optional<std::vector<int>> chosen(const Survey& survey, std::string_view list, const GpuOrder& order) {
  std::vector<int> found;
  for (std::string_view word : base::split(list, ',')) {
    const std::optional<int> number = base::parse_integer(word);
    if (number && *number < 0) break;
    std::vector<int> named;
    for (std::size_t i = 0; i < order.gpus.size(); ++i)
      if (number ? order.numbers[i] == number : has_uuid(survey, node_of(survey, order.gpus[i]), word))
        named.push_back(order.gpus[i]);
    if (named.size() != 1 || std::find(found.begin(), found.end(), named.front()) != found.end()) return std::nullopt;
    found.push_back(named.front());
  }
  return found.empty() ? std::nullopt : std::optional(found);
}

void count_up(GpuOrder& order) {
  order.numbers.resize(order.gpus.size());
  std::iota(order.numbers.begin(), order.numbers.end(), 0);
}

// Takes what one variable leaves; false if it is not set, or says nothing of these GPUs.
bool choose(const Survey& survey, int host, std::string_view name, VisibleGpus& visible) {
  const std::optional<std::string_view> list = survey.facts(host).variable(name);
  if (!list) return false;
  std::optional<std::vector<int>> left = chosen(survey, *list, visible.order);
  (left ? visible.chosen : visible.passed).push_back(fmt::format("{}={}", name, *list));
  if (!left) return false;
  visible.order.gpus = std::move(*left);
  count_up(visible.order);
  return true;
}

}  // namespace

std::optional<int> driver_index(const Survey& survey, const Node& gpu) {
  if (const DeviceFacts* facts = device_facts(survey, gpu); facts != nullptr && facts->index) return facts->index;
  for (std::string_view tool : {"nvml", "rsmi"})
    for (const std::string& name : gpu.names)
      if (const std::optional<int> number = number_after(name, tool)) return number;
  // The tables of these tools name GPUs by number.
  if (tells(survey, "nvidia-smi") || tells(survey, "rocm-smi")) return number_after(gpu.name, "gpu");
  return std::nullopt;
}

GpuOrder gpu_order(const Survey& survey, const std::vector<int>& gpus) {
  GpuOrder order{gpus, {}, CountedBy::Driver, false};
  std::map<int, int> by_number;
  bool bus_ids = true;
  int nvidia = 0;
  for (int gpu : gpus) {
    const Node& node = node_of(survey, gpu);
    if (const std::optional<int> number = driver_index(survey, node)) by_number.emplace(*number, gpu);
    bus_ids &= !node.bus_id.empty();
    nvidia += is_nvidia(survey, node) ? 1 : 0;
  }
  if (by_number.size() == gpus.size()) {
    order.gpus.clear();
    for (const auto& [number, gpu] : by_number) {
      order.gpus.push_back(gpu);
      order.numbers.push_back(number);
    }
  } else {
    order.by = bus_ids ? CountedBy::BusId : CountedBy::Source;
    count_up(order);
  }
  const auto key = [&](int gpu) {
    const std::string_view bus_id = node_of(survey, gpu).bus_id;
    return std::tuple(bus_id.size(), bus_id);  // a longer domain is a higher one
  };
  if (order.by == CountedBy::BusId)
    std::stable_sort(order.gpus.begin(), order.gpus.end(), [&](int a, int b) { return key(a) < key(b); });
  order.cuda_must_be_told = nvidia > 1 && order.by != CountedBy::Source;
  return order;
}

VisibleGpus visible_gpus(const Survey& survey, int host, const std::vector<int>& gpus) {
  VisibleGpus visible{gpu_order(survey, gpus), {}, {}};
  const auto any = [&](auto is_made) {
    return std::any_of(gpus.begin(), gpus.end(), [&](int gpu) { return is_made(survey, node_of(survey, gpu)); });
  };
  bool chosen_by_hip = false;
  if (any(is_amd) || !any(is_nvidia)) {
    choose(survey, host, "ROCR_VISIBLE_DEVICES", visible);
    chosen_by_hip = choose(survey, host, "HIP_VISIBLE_DEVICES", visible);
  }
  // HIP reads it, too, where its own is not set.
  if (!chosen_by_hip) choose(survey, host, "CUDA_VISIBLE_DEVICES", visible);
  return visible;
}

}  // namespace weft::topology
