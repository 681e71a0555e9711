// The table that weft-bench prints: its head, one line a size, and the sum at the end.
#include <fmt/format.h>
#include <unistd.h>

#include "base/message_sizes.hpp"
#include "base/output.hpp"
#include "base/plural.hpp"
#include "bench/weft-bench/report.hpp"
#include "weft/version.hpp"

namespace weft::bench {
namespace {

constexpr std::size_t kMaxPlaces = 16;  // ranks whose place is printed

std::string root_name(const Case& what) {
  if (!has_root(what.call.collective)) return "-";
  return what.all_roots ? "all" : fmt::format("{}", what.call.root);
}

// Three significant figures where it matters, never an exponent.
std::string figure(double value) {
  return value >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.{}f}", value, value >= 10 ? 2 : 3);
}

template <typename... Columns>
std::string line_of(Columns&&... columns) {
  return fmt::format("{:>14} {:>12} {:>8} {:>6} {:>5} {:>5}  {:<24} {:<9} {:>9} {:>9} {:>9} {:>8} {:>8} {:>7}\n",
                     std::forward<Columns>(columns)...);
}

}  // namespace

double Measurement::algorithm_bandwidth_gbs() const {
  return time.median_us > 0 ? static_cast<double>(bytes) / time.median_us / 1e3 : 0;
}

double Measurement::bus_bandwidth_gbs() const {
  return algorithm_bandwidth_gbs() * base::bus_factor(what.call.collective, ranks);
}

Table::Table(const Setting& setting, const Arguments& arguments) : show_progress_(isatty(STDERR_FILENO) != 0) {
  const auto& machine = setting.machine;
  std::string head = fmt::format("# weft-bench {}: {}, started by {}\n", version(),
                                 base::plural(setting.places.size(), "rank"), setting.launcher);
  head += fmt::format("# machine: {}, {}, {} cores, {:.1f} GiB, {}\n", machine.host, machine.cpu, machine.cores,
                      static_cast<double>(machine.memory_bytes) / (1 << 30), machine.kernel);
  head += fmt::format("# placement: {}; {} buffers\n", setting.placement, setting.symmetric ? "symmetric" : "private");
  for (std::size_t rank = 0; rank < setting.places.size() && rank < kMaxPlaces; ++rank) {
    const auto& place = setting.places[rank];
    head += fmt::format("#   rank {:>3}  host {}  pid {}  cpus {}\n", rank, place.host, place.pid, place.cpus);
  }
  if (setting.places.size() > kMaxPlaces)
    head += fmt::format("#   ... and {} more\n", setting.places.size() - kMaxPlaces);
  head += fmt::format("# sizes {} to {} by factor {}, warm-up {}, {}, {}\n", base::format_bytes(arguments.min_bytes),
                      base::format_bytes(arguments.max_bytes), arguments.factor, arguments.warmup,
                      arguments.iterations > 0 ? fmt::format("{} timed calls", arguments.iterations)
                                               : fmt::format("at most {} s of timed calls", arguments.time_budget_s),
                      arguments.check ? "every result checked" : "results NOT checked");
  write(head);
}

void Table::begin(const Case& what) {
  clear_progress();
  const std::string skew = what.uneven ? fmt::format(", block 0 is {:g} times the mean", what.skew) : "";
  const Quantisation quantisation = what.call.quantisation;
  const std::string travels =
      quantisation == Quantisation::None ? "" : fmt::format(", quantised to {}", to_string(quantisation));
  write(fmt::format("#\n# {}{}{}\n", name_of(what), skew, travels) +
        line_of("size(B)", "count", "type", "redop", "root", "place", "algorithm", "transport", "time(us)", "min(us)",
                "p99(us)", "algbw", "busbw", "#wrong"));
}

void Table::progress(std::string_view what, int done, int total) {
  if (!show_progress_) return;
  base::write_stderr(fmt::format("\r\033[K[{}/{}] {}", done, total, what));
  progress_shown_ = true;
}

void Table::clear_progress() {
  if (!progress_shown_) return;
  base::write_stderr("\r\033[K");
  progress_shown_ = false;
}

void Table::row(const Measurement& measurement) {
  clear_progress();
  const auto& call = measurement.what.call;
  const bool barrier = call.collective == Collective::Barrier;
  write(line_of(measurement.bytes, call.count, barrier ? "-" : to_string(call.dtype),
                reduces(call.collective) ? to_string(call.op) : "-", root_name(measurement.what),
                barrier                     ? "-"
                : measurement.what.in_place ? "in"
                                            : "out",
                fmt::format("{}@{}", measurement.algorithm, measurement.channels), measurement.transport,
                figure(measurement.time.median_us), figure(measurement.time.min_us), figure(measurement.time.p99_us),
                figure(measurement.algorithm_bandwidth_gbs()), figure(measurement.bus_bandwidth_gbs()),
                measurement.checked ? fmt::format("{}", measurement.wrong) : "N/A"));
}

void Table::end(const std::vector<Measurement>& measurements) {
  clear_progress();
  std::uint64_t wrong = 0;
  bool checked = true;
  double bus_bandwidth = 0;
  int moving = 0;
  for (const auto& measurement : measurements) {
    wrong += measurement.wrong;
    checked = checked && measurement.checked;
    if (measurement.what.call.collective == Collective::Barrier) continue;
    bus_bandwidth += measurement.bus_bandwidth_gbs();
    ++moving;
  }
  write(fmt::format("#\n# Out of bounds values : {}\n# Avg bus bandwidth    : {} GB/s over {} measurements\n",
                    !checked ? "not checked" : fmt::format("{} {}", wrong, wrong == 0 ? "OK" : "FAILED"),
                    figure(moving > 0 ? bus_bandwidth / moving : 0), moving));
}

void Table::write(std::string_view text) {
  if (written_.ok()) written_ = base::write_stdout(text);
}

}  // namespace weft::bench
