// The variables by which a launcher chooses GPUs for a process.
#include "topology/visible_gpus.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "base/parse.hpp"

namespace weft::topology {
namespace {

constexpr std::array<std::string_view, 3> kVisible = {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
                                                      "HIP_VISIBLE_DEVICES"};

// The numbers of a list; nothing if one of them is no number of these GPUs.
std::optional<std::vector<int>> chosen(std::string_view list, const std::vector<int>& gpus) {
  std::vector<int> found;
  for (std::string_view word : base::split(list, ',')) {
    const std::optional<int> index = base::parse_integer(word);
    if (!index || *index < 0 || static_cast<std::size_t>(*index) >= gpus.size()) return std::nullopt;
    found.push_back(gpus[static_cast<std::size_t>(*index)]);
  }
  return found;
}

}  // namespace

std::vector<int> visible_gpus(const HostFacts& facts, const std::vector<int>& gpus) {
  for (std::string_view name : kVisible)
    if (const auto set = facts.variable(name); set && !set->empty())
      if (std::optional<std::vector<int>> some = chosen(*set, gpus)) return *some;
  return gpus;
}

}  // namespace weft::topology
