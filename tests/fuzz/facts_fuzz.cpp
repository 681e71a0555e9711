// Fuzz target: any bytes as what a machine's files hold, and as what weft-vendor answers. The first byte chooses which.
// Readers take what they understand and leave the rest; answers are refused as Corrupt, or merged into a sound graph.
//
// With libFuzzer: tools/fuzz facts. Without it, topology.facts_fuzz_test runs seeds and seeded mutations through it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "topology/facts/acs.hpp"
#include "topology/facts/addresses.hpp"
#include "topology/facts/mounts.hpp"
#include "topology/facts/parsers.hpp"
#include "topology/measure/gpu_copies.hpp"
#include "topology/text.hpp"
#include "topology/vendor/answers.hpp"
#include "topology/vendor/merge.hpp"
#include "weft/graph.hpp"

namespace {

using namespace weft::topology;

// A property that does not hold ends the process: that is what fuzzers look for.
void require(bool holds) {
  if (!holds) std::abort();
}

void read_tables(std::string_view text) {
  NetworkTables tables;
  parse_routes(text, tables);
  tables.local = parse_local_addresses(text);
  tables.ipv6 = parse_ipv6_addresses(text);
  require(tables.local.size() <= kMaxInterfaceAddresses);
  for (const InterfaceAddress& address : recorded_addresses(tables)) require(!address.address.empty());
}

void read_words(std::string_view text) {
  for (const Mount& mount : parse_mounts(text)) require(!mount.root.empty() && !mount.point.empty());
  for (const std::string_view line : lines_of(text)) require(line.find('\n') == std::string_view::npos);
  for (const std::string_view word : words_of(text)) require(!word.empty());
  require(trim(trim(text)) == trim(text));
  require(trim(text).size() <= text.size());
}

void read_host(std::string_view text) {
  ProcessFacts process;
  parse_limits(text, process);
  parse_status(text, process);
  parse_numa_maps(text, process);
  for (const ResidentPages& resident : process.resident) require(resident.numa >= 0);
  PlatformFacts platform;
  parse_cpuinfo(text, platform);
  KernelFacts kernel;
  parse_nvidia_version(text, kernel);
  require(!kernel.nvidia_driver || kernel.nvidia_driver->find('.') != std::string::npos);
  parse_environment(text);
}

void read_config_space(std::string_view bytes) {
  int reads = 0;
  const auto word = [&](unsigned offset) -> std::optional<std::uint32_t> {
    require(++reads <= 4096 && offset % 4 == 0 && offset < 4096 + 4);
    if (offset + 4 > bytes.size()) return std::nullopt;
    std::uint32_t value = 0;
    for (unsigned i = 4; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[offset + i]);
    return value;
  };
  static_cast<void>(read_acs(word));
}

// Two GPUs with the bus ids that the seeds name, and a NIC called mlx5_0.
Survey surveyed() {
  Survey survey;
  survey.graph = *model("gpu:2 nic:1 ndr");
  const std::vector<int> gpus = survey.graph.ids(NodeKind::Gpu);
  for (std::size_t i = 0; i < gpus.size(); ++i)
    survey.graph.nodes[static_cast<std::size_t>(gpus[i])].bus_id = i == 0 ? "0000:10:00.0" : "0000:11:00.0";
  HostFacts host;
  host.devices.emplace_back();
  host.devices[0].verbs = "mlx5_0";
  survey.hosts.push_back(host);
  return survey;
}

template <typename Answer>
void merge(const weft::Result<Answer>& answer, void (*add)(const Answer&, Survey&)) {
  if (!answer) {
    const std::string message(answer.error().message());
    return require(answer.error().code() == weft::Code::Corrupt && message.find('\n') == std::string::npos);
  }
  Survey survey = surveyed();
  add(*answer, survey);
  require(survey.graph.check().ok());
  const Survey once = survey;
  add(*answer, survey);
  require(survey.graph == once.graph);  // what was told before is not added again
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  if (bytes == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, bytes - 1);
  switch (data[0] % 6) {
    case 0:
      read_tables(text);
      break;
    case 1:
      read_words(text);
      read_host(text);
      break;
    case 2:
      read_config_space(text);
      break;
    case 3:
      merge(read_nvml_answer(text), merge_nvml);
      break;
    case 4:
      merge(read_verbs_answer(text), merge_verbs);
      break;
    case 5: {
      const weft::Result<GpuAnswer> answer = read_gpu_answer(text);
      require(answer ? answer->round >= 0 : answer.error().code() == weft::Code::Corrupt);
      break;
    }
  }
  return 0;
}
