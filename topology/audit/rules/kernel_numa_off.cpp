// kernel.numa_off: the kernel sees one NUMA node on a machine with several sockets.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

bool has_word(const std::optional<std::string>& line, std::string_view word) {
  if (!line) return false;
  for (std::size_t at = line->find(word); at != std::string::npos; at = line->find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || (*line)[at - 1] == ' ') && (end == line->size() || (*line)[end] == ' ')) return true;
  }
  return false;
}

// Intel's CPUs had their memory behind one hub of the board, for all sockets, until 2008 (Nehalem, model 26), as had
// the first Atoms and the six-core Xeons of that year. A CPU that is not known may be one of these.
bool has_memory_of_its_own(const PlatformFacts& platform) {
  constexpr int kBehindTheHub[] = {28, 29, 38, 39, 53, 54};
  constexpr int kNehalem = 26;
  if (platform.cpu_architecture == "arm64" || platform.cpu_architecture == "ppc64") return true;
  if (!platform.cpu_vendor || !platform.cpu_family) return false;
  if (*platform.cpu_vendor != "GenuineIntel") return *platform.cpu_family >= 15;  // AMD's since 2003
  return platform.cpu_family == 6 && platform.cpu_model.value_or(0) >= kNehalem &&
         std::find(std::begin(kBehindTheHub), std::end(kBehindTheHub), *platform.cpu_model) == std::end(kBehindTheHub);
}

// Hosts that say otherwise, for contrast.
std::string others(const Input& input) {
  std::vector<std::string> good;
  for (int host = 0; host < input.hosts(); ++host)
    if (numas_with_cpus(input.locality, host).size() > 1) good.push_back(host_name(input, host));
  return good.empty() ? ""
                      : fmt::format("; {} of {} hosts {} several", good.size(), input.hosts(),
                                    good.size() == 1 ? "has" : "have");
}

void check(const Rule& self, const Input& input, Report& report) {
  const auto one_node = [&](int host) { return numas_with_cpus(input.locality, host).size() == 1; };
  for (int host = 0; host < input.hosts(); ++host) {
    const bool off = has_word(input.facts(host).kernel.command_line, "numa=off");
    const std::size_t packages = input.locality.packages(host).size();
    const bool flat = packages > 1 && one_node(host) && !virtual_machine(input, host).value_or(false) &&
                      input.facts(host).kernel.numa.value_or(true) && has_memory_of_its_own(input.facts(host).platform);
    if (!flat && !(off && packages != 1)) continue;
    report.add(
        self, input.on(host, "NUMA"),
        fmt::format("{}{}{}", packages > 1 ? fmt::format("{} packages but 1 NUMA node", packages) : "1 NUMA node",
                    off ? "; the kernel's command line has numa=off" : "", others(input)));
  }
}

}  // namespace

extern const Rule kernel_numa_off;
const Rule kernel_numa_off = {
    .id = "kernel.numa_off",
    .severity = Severity::Error,
    .summary = "several sockets, but one NUMA node",
    .silent =
        "one socket; unless the command line says numa=off: virtual machines, kernels without NUMA, CPUs that are not "
        "known "
        "or have their memory behind one hub (Intel's before 2008); sources that do not tell sockets",
    .fix = "remove numa=off from the kernel's command line; if it is not there, turn node interleaving off in the BIOS",
    .reference = "NUMA in the kernel's parameters (Documentation/admin-guide/kernel-parameters.txt)",
    .check = check,
};

}  // namespace weft::topology::audit
