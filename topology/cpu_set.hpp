// CPU lists as Linux writes them ("0-15,128-143"), as sets.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weft::topology {

// Ranges, both ends included, in the order of the text; a list that does not parse is empty.
struct CpuRange {
  int first;
  int last;
};
std::vector<CpuRange> parse_cpu_list(std::string_view text);

// Every CPU of a list, sorted, each once; and a list of such, "0-15,128-143".
std::vector<int> cpus_of(std::string_view list);
std::string cpu_list(std::vector<int> cpus);
// The CPUs that both lists have, in list form; empty if there are none.
std::string common_cpus(std::string_view a, std::string_view b);

std::size_t count_cpus(std::string_view list);
// Whether `inner` has CPUs and all are in `outer`.
bool cpus_inside(std::string_view inner, std::string_view outer);

}  // namespace weft::topology
