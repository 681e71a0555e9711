// What /proc, /sys and the scheduler say, and one all_gather of it.
#include "bench/weft-bench/machine.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>

namespace weft::bench {
namespace {

// What follows "<key> :" in a /proc file; empty if there is no such line.
std::string field_of(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "";
}

std::uint64_t memory_field(std::string_view key) {
  return std::strtoull(field_of("/proc/meminfo", key).c_str(), nullptr, 10) * 1024;
}

std::vector<int> affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) cpus.push_back(cpu);
  }
  return cpus;
}

// The lowest processor of the physical core that `cpu` is a thread of.
int first_thread(int cpu) {
  std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
  int first = cpu;
  file >> first;
  return first;
}

// How a place travels: fixed size, so that one all_gather does.
struct PackedPlace {
  char host[64] = {};
  char cpus[60] = {};
  std::int32_t pid = 0;
};

template <std::size_t N>
void pack(const std::string& text, char (&to)[N]) {
  std::memcpy(to, text.data(), std::min(text.size(), N - 1));
}

}  // namespace

Machine this_machine() {
  Machine machine;
  utsname name{};
  if (uname(&name) == 0) {
    machine.host = name.nodename;
    machine.kernel = fmt::format("{} {}", name.sysname, name.release);
  }
  machine.cpu = field_of("/proc/cpuinfo", "model name");
  machine.cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  machine.memory_bytes = memory_field("MemTotal");
  machine.available_bytes = memory_field("MemAvailable");
  return machine;
}

std::string allowed_cpus() {
  const auto cpus = affinity();
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t end = i + 1;
    while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += end == i + 1 ? fmt::format("{}", cpus[i]) : fmt::format("{}-{}", cpus[i], cpus[end - 1]);
    i = end;
  }
  return text;
}

std::vector<int> allowed_cores() {
  std::vector<int> first;
  std::vector<int> further;
  std::set<int> seen;
  for (const int cpu : affinity()) (seen.insert(first_thread(cpu)).second ? first : further).push_back(cpu);
  first.insert(first.end(), further.begin(), further.end());
  return first;
}

Result<std::vector<RankPlace>> gather_places(Communicator& communicator, const Machine& machine) {
  PackedPlace own;
  pack(machine.host, own.host);
  pack(allowed_cpus(), own.cpus);
  own.pid = static_cast<std::int32_t>(getpid());
  std::vector<PackedPlace> all(static_cast<std::size_t>(communicator.size()));
  WEFT_TRY(communicator.all_gather(&own, all.data(), sizeof(own), DataType::UInt8));
  std::vector<RankPlace> places;
  for (const auto& place : all) places.push_back({place.host, place.cpus, place.pid});
  return places;
}

std::string transports_of(const Communicator& communicator) {
  std::set<std::string> names;
  for (int peer = 0; peer < communicator.size(); ++peer) {
    if (peer != communicator.rank()) names.emplace(communicator.transport(peer));
  }
  return names.empty() ? "self" : fmt::format("{}", fmt::join(names, "+"));
}

}  // namespace weft::bench
