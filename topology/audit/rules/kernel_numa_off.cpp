// kernel.numa_off: the kernel sees one NUMA node on a machine with several sockets.
#include <fmt/format.h>

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

// Hosts that say otherwise, for contrast.
std::string others(const Input& input) {
  std::vector<std::string> good;
  for (int host = 0; host < input.hosts(); ++host)
    if (numas_with_cpus(input.locality, host).size() > 1) good.push_back(fmt::format("host{}", host));
  return good.empty() ? "" : fmt::format("; {} of {} hosts have several", good.size(), input.hosts());
}

void check(const Rule& self, const Input& input, Report& report) {
  const auto one_node = [&](int host) { return numas_with_cpus(input.locality, host).size() == 1; };
  for (int host = 0; host < input.hosts(); ++host) {
    const bool off = has_word(input.facts(host).kernel.command_line, "numa=off");
    const std::size_t packages = input.locality.packages(host).size();
    const bool flat = packages > 1 && one_node(host) && !virtual_machine(input, host).value_or(false);
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
    .silent = "one socket; virtual machines, unless their command line says numa=off; sources that do not tell sockets",
    .fix = "remove numa=off from the kernel's command line; if it is not there, turn node interleaving off in the BIOS",
    .reference = "NUMA in the kernel's parameters (Documentation/admin-guide/kernel-parameters.txt)",
    .check = check,
};

}  // namespace weft::topology::audit
