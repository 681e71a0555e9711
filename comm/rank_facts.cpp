// Reads the own machine: boot id, CPUs, topology; tries the transports.
#include "comm/rank_facts.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "algorithms/selector.hpp"
#include "base/fnv1a.hpp"

namespace weft::comm {
namespace {

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

std::string host_name() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0) return "unknown";
  return name;
}

constexpr std::string_view kModel = "model:";

Result<topology::Graph> graph_of_file(const std::string& file) {
  if (file.starts_with(kModel)) return topology::model(std::string_view(file).substr(kModel.size()));
  // A device has no end, and a pipe without a writer no beginning.
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored) && !std::filesystem::is_regular_file(file, ignored))
    return Status(Code::InvalidArgument, "it is not a regular file");
  return topology::load(file);
}

}  // namespace

std::vector<int> allowed_cpus(const AffinityCall& ask) {
  constexpr std::size_t kMostCpus = std::size_t{1} << 20;
  std::vector<int> cpus;
  for (std::size_t room = CPU_SETSIZE; room <= kMostCpus; room *= 2) {
    const auto release = [](cpu_set_t* set) { CPU_FREE(set); };
    const std::unique_ptr<cpu_set_t, decltype(release)> set(CPU_ALLOC(room));
    const std::size_t bytes = CPU_ALLOC_SIZE(room);
    if (set == nullptr) return cpus;
    CPU_ZERO_S(bytes, set.get());
    if (ask(bytes, set.get()) == 0) {
      for (std::size_t cpu = 0; cpu < room; ++cpu) {
        if (CPU_ISSET_S(cpu, bytes, set.get())) cpus.push_back(static_cast<int>(cpu));
      }
      return cpus;
    }
    if (errno != EINVAL) return cpus;
  }
  return cpus;
}

Result<std::string> own_table(const Options& options) {
  if (options.table_file.empty()) return std::string();
  const Result<algorithms::MeasuredTable> table = algorithms::MeasuredTable::load(options.table_file);
  if (table.has_value()) return table->to_json();
  const Code code = table.error().code() == Code::NotFound ? Code::NotFound : Code::InvalidArgument;
  return Status(code, fmt::format("WEFT_TABLE={}: {}", options.table_file, table.error().message()));
}

Result<std::vector<algorithms::ScheduleText>> own_schedules(const Options& options) {
  Result<std::vector<algorithms::ScheduleText>> texts = algorithms::read_schedule_files(options.schedule_files);
  Status wrong = texts.status();
  if (wrong.ok() && options.rank == 0) wrong = algorithms::LoadedSchedules::load(*texts).status();
  if (wrong.ok()) return texts;
  const Code code = wrong.code() == Code::NotFound ? Code::NotFound : Code::InvalidArgument;
  return Status(code, fmt::format("WEFT_SCHEDULES: {}", wrong.message()));
}

std::string digest_of(const std::vector<algorithms::ScheduleText>& schedules) {
  if (schedules.empty()) return {};
  std::string all;
  for (const algorithms::ScheduleText& schedule : schedules)
    all += fmt::format("{} {}", schedule.text.size(), schedule.text);
  return fmt::format("{:016x}", base::fnv1a(all));
}

RankFacts own_facts(const Options& options, const Transports& transports, std::string_view table) {
  RankFacts own;
  if (!table.empty()) own.table_digest = fmt::format("{:016x}", base::fnv1a(table));
  own.host_id = boot_id() + "/" + options.host_id;
  own.host_name = host_name();
  own.cpus = allowed_cpus([](std::size_t bytes, cpu_set_t* set) { return sched_getaffinity(0, bytes, set); });
  for (const auto& transport : transports) {
    own.addresses.emplace(transport->name(), transport->address());
    if (transport->crosses_hosts()) own.crosses_hosts.emplace_back(transport->name());
  }
  return own;
}

std::vector<std::string> reached(const Transports& transports, const RankFacts& leader) {
  std::vector<std::string> names;
  for (const auto& transport : transports) {
    const auto address = leader.addresses.find(std::string(transport->name()));
    if (address != leader.addresses.end() && transport->reaches(address->second)) names.emplace_back(transport->name());
  }
  return names;
}

Result<topology::Graph> own_graph(const Options& options) {
  const std::string& file = options.topology_file;
  if (file.empty()) return topology::probe();
  Result<topology::Graph> graph = graph_of_file(file);
  if (graph.has_value() && graph->hosts() != 1) {
    graph = Status(Code::InvalidArgument, fmt::format("it describes {} hosts; it must describe the one host that the "
                                                      "rank runs on",
                                                      graph->hosts()));
  }
  if (graph.has_value()) return graph;
  const Code code = graph.error().code() == Code::NotFound ? Code::NotFound : Code::InvalidArgument;
  return Status(code, fmt::format("WEFT_TOPOLOGY={}: {}", file, graph.error().message()));
}

}  // namespace weft::comm
