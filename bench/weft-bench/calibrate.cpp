// The order of the measurements, and what is told of them.
#include "bench/weft-bench/calibrate.hpp"

#include <fmt/format.h>

#include <fstream>
#include <map>

#include "base/fnv1a.hpp"
#include "base/message_sizes.hpp"
#include "base/output.hpp"
#include "base/plural.hpp"
#include "bench/weft-bench/same_arguments.hpp"
#include "bench/weft-bench/table_file.hpp"

namespace weft::bench {
namespace {

// The same machine, and not told apart by WEFT_HOST_ID: what communicators take for one host.
Result<HostOfRank> hosts_of(Communicator& communicator, const Options& options) {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  const std::uint64_t own = base::fnv1a(id + "/" + options.host_id);
  std::vector<std::uint64_t> ids(static_cast<std::size_t>(communicator.size()));
  WEFT_TRY(communicator.all_gather(&own, ids.data(), 1, DataType::UInt64));
  HostOfRank hosts;
  std::map<std::uint64_t, int> known;
  for (const std::uint64_t one : ids)
    hosts.push_back(known.try_emplace(one, static_cast<int>(known.size())).first->second);
  return hosts;
}

double nanoseconds(std::int64_t ps) { return static_cast<double>(ps) / 1e3; }
double gbs(std::int64_t bytes_per_us) { return static_cast<double>(bytes_per_us) / 1e3; }

std::string host_text(const algorithms::HostCalibration& host) {
  std::string text = fmt::format("# within a host, {} on each core\n", base::plural(host.ranks_per_core, "rank"));
  text += fmt::format(
      "call {:.0f} ns, overhead {:.0f} ns a message on each side, latency {:.0f} ns in a line, {:.0f} ns "
      "in a slot\n",
      nanoseconds(host.call_ps), nanoseconds(host.overhead_ps), nanoseconds(host.line_ps), nanoseconds(host.slot_ps));
  text += fmt::format("{:>12} {:>14} {:>14} {:>14} {:>14}\n", "buffers", "write(GB/s)", "read(GB/s)", "reduce(GB/s)",
                      "copy(GB/s)");
  for (const algorithms::CoreRates& rates : host.rates) {
    text += fmt::format("{:>12} {:>14.2f} {:>14.2f} {:>14.2f} {:>14.2f}\n", base::format_bytes(rates.bytes),
                        gbs(rates.write), gbs(rates.read), gbs(rates.reduce), gbs(rates.copy));
  }
  return text;
}

std::string network_text(const algorithms::NetworkCalibration& network) {
  std::string text = fmt::format("# between hosts\noverhead {:.2f} us a message on each side, latency {:.2f} us\n",
                                 nanoseconds(network.overhead_ps) / 1e3, nanoseconds(network.latency_ps) / 1e3);
  text += fmt::format("{:>12} {:>14} {:>14}\n", "host", "up(GB/s)", "down(GB/s)");
  for (std::size_t host = 0; host < network.hosts.size(); ++host)
    text +=
        fmt::format("{:>12} {:>14.3f} {:>14.3f}\n", host, gbs(network.hosts[host].up), gbs(network.hosts[host].down));
  if (network.together > 0) text += fmt::format("all at once share {:.3f} GB/s\n", gbs(network.together));
  return text;
}

std::string text_of(const algorithms::Calibration& calibration, const std::string& file) {
  std::string text;
  for (const algorithms::HostCalibration& host : calibration.hosts) text += host_text(host);
  if (calibration.network) text += network_text(*calibration.network);
  return text + fmt::format("# {} holds it; use it with WEFT_TABLE={}\n", file, file);
}

// On rank 0, before anything is measured.
Status check(const Communicator& communicator, const std::string& table) {
  if (communicator.size() < 2) return Status(Code::InvalidArgument, "--calibrate needs at least two ranks");
  return check_table(table, communicator.topology_fingerprint());
}

}  // namespace

Result<Summary> calibrate(Communicator& communicator, const Arguments& arguments, const Options& options) {
  Summary summary;
  if (communicator.rank() == 0) summary.told = check(communicator, arguments.table);
  WEFT_TRY(tell_all(communicator, summary.told));
  if (!summary.told.ok()) return summary;
  WEFT_TRY_ASSIGN(const HostOfRank hosts, hosts_of(communicator, options));
  algorithms::Calibration calibration;
  WEFT_TRY_ASSIGN(const auto host, calibrate_host(communicator, hosts));
  if (host) calibration.hosts.push_back(*host);
  WEFT_TRY_ASSIGN(calibration.network, calibrate_network(communicator, hosts));
  if (communicator.rank() == 0) {
    summary.told = update_table(arguments.table, communicator.topology_fingerprint(), calibration);
    if (summary.told.ok()) summary.told = base::write_stdout(text_of(calibration, arguments.table));
  }
  WEFT_TRY(tell_all(communicator, summary.told));
  return summary;
}

}  // namespace weft::bench
