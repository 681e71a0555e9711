// Sets of CPUs in list form.
#include "topology/audit/cpu_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "topology/cpu_set.hpp"

namespace weft::topology::audit {

std::string common_cpus(std::string_view a, std::string_view b) {
  std::vector<CpuRange> left = parse_cpu_list(a);
  std::vector<CpuRange> right = parse_cpu_list(b);
  const auto by_first = [](const CpuRange& x, const CpuRange& y) { return x.first < y.first; };
  std::sort(left.begin(), left.end(), by_first);
  std::sort(right.begin(), right.end(), by_first);
  std::string text;
  for (std::size_t i = 0, j = 0; i < left.size() && j < right.size();) {
    const int first = std::max(left[i].first, right[j].first);
    const int last = std::min(left[i].last, right[j].last);
    if (first <= last) {
      if (!text.empty()) text += ",";
      text += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    }
    if (left[i].last < right[j].last)
      ++i;
    else
      ++j;
  }
  return text;
}

}  // namespace weft::topology::audit
