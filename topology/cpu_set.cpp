// CPU lists as Linux writes them.
#include "topology/cpu_set.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace weft::topology {
namespace {

constexpr int kMaxCpu = 1 << 20;

bool parse_number(std::string_view& text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || number > kMaxCpu) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

// Sorted, and ranges that touch or overlap joined.
std::vector<CpuRange> merged(std::vector<CpuRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const CpuRange& a, const CpuRange& b) { return a.first < b.first; });
  std::vector<CpuRange> result;
  for (const CpuRange& range : ranges) {
    if (!result.empty() && range.first <= result.back().last + 1)
      result.back().last = std::max(result.back().last, range.last);
    else
      result.push_back(range);
  }
  return result;
}

std::string list_of(const std::vector<CpuRange>& ranges) {
  std::string list;
  for (const CpuRange& range : ranges) {
    if (!list.empty()) list += ',';
    list += std::to_string(range.first);
    if (range.last > range.first) list += '-' + std::to_string(range.last);
  }
  return list;
}

}  // namespace

std::vector<CpuRange> parse_cpu_list(std::string_view text) {
  std::vector<CpuRange> ranges;
  while (!text.empty()) {
    CpuRange range{};
    if (!parse_number(text, range.first)) return {};
    range.last = range.first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      if (!parse_number(text, range.last) || range.last < range.first) return {};
    }
    ranges.push_back(range);
    if (text.empty()) break;
    if (!text.starts_with(',')) return {};
    text.remove_prefix(1);
  }
  return ranges;
}

std::vector<int> cpus_of(std::string_view list) {
  std::vector<int> cpus;
  for (const CpuRange& range : merged(parse_cpu_list(list)))
    for (int cpu = range.first; cpu <= range.last; ++cpu) cpus.push_back(cpu);
  return cpus;
}

std::string cpu_list(std::vector<int> cpus) {
  std::vector<CpuRange> ranges;
  for (int cpu : cpus) ranges.push_back({cpu, cpu});
  return list_of(merged(std::move(ranges)));
}

std::string common_cpus(std::string_view a, std::string_view b) {
  const std::vector<CpuRange> left = merged(parse_cpu_list(a));
  const std::vector<CpuRange> right = merged(parse_cpu_list(b));
  std::vector<CpuRange> common;
  for (std::size_t i = 0, j = 0; i < left.size() && j < right.size();) {
    const CpuRange both{std::max(left[i].first, right[j].first), std::min(left[i].last, right[j].last)};
    if (both.first <= both.last) common.push_back(both);
    if (left[i].last < right[j].last)
      ++i;
    else
      ++j;
  }
  return list_of(common);
}

std::size_t count_cpus(std::string_view list) {
  std::size_t count = 0;
  for (const CpuRange& range : merged(parse_cpu_list(list)))
    count += static_cast<std::size_t>(range.last - range.first) + 1;
  return count;
}

bool cpus_inside(std::string_view inner, std::string_view outer) {
  const std::vector<CpuRange> parts = parse_cpu_list(inner);
  const std::vector<CpuRange> whole = merged(parse_cpu_list(outer));
  return !parts.empty() && std::all_of(parts.begin(), parts.end(), [&](const CpuRange& part) {
    return std::any_of(whole.begin(), whole.end(),
                       [&](const CpuRange& w) { return w.first <= part.first && part.last <= w.last; });
  });
}

}  // namespace weft::topology
