// One function for each launcher, tried in an order that puts what was set by hand first.
#include "base/launch/launch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <mutex>
#include <optional>
#include <vector>

#include "base/fnv1a.hpp"
#include "base/launch/offer.hpp"
#include "base/parse.hpp"

namespace weft::base {
namespace {

constexpr int kPortTries = 16;

struct Context {
  const Environment& environment;
  const LaunchSettings& settings;
  const LaunchHelpers& helpers;
};

// Null: this launcher is not there at all.
using Found = std::optional<Result<Launch>>;

Status incomplete(std::string_view launcher, const std::vector<std::string_view>& missing) {
  return Status(
      Code::InvalidArgument,
      fmt::format(
          "{}: {} {} not set; set it, or set WEFT_RANK, WEFT_SIZE and WEFT_RENDEZVOUS, which win over every launcher",
          launcher, fmt::join(missing, ", "), missing.size() == 1 ? "is" : "are"));
}

std::vector<std::string_view> missing_of(const Environment& environment, const std::vector<std::string_view>& names) {
  std::vector<std::string_view> missing;
  for (const std::string_view name : names) {
    if (!environment.has(name)) missing.push_back(name);
  }
  return missing;
}

Result<int> number(const Environment& environment, std::string_view name) {
  const auto value = parse_integer(*environment.get(name));
  if (!value) return Status(Code::InvalidArgument, fmt::format("{}={} is not a number", name, *environment.get(name)));
  return *value;
}

// Both variables are set.
Result<Launch> rank_and_size(const Environment& environment, std::string_view source, std::string_view rank_name,
                             std::string_view size_name) {
  Launch launch{.source = std::string(source), .host = {}, .job = {}};
  WEFT_TRY_ASSIGN(launch.rank, number(environment, rank_name));
  WEFT_TRY_ASSIGN(launch.size, number(environment, size_name));
  if (launch.rank < 0 || launch.size < 1 || launch.rank >= launch.size) {
    return Status(Code::InvalidArgument, fmt::format("{}={} and {}={} contradict each other: a rank is 0 to size - 1",
                                                     rank_name, launch.rank, size_name, launch.size));
  }
  return launch;
}

// The address that somebody set by hand, whatever the launcher: WEFT_RENDEZVOUS, or MASTER_ADDR with MASTER_PORT.
// False: none.
Result<bool> address_by_hand(const Environment& environment, Launch& launch) {
  if (const auto rendezvous = environment.get("WEFT_RENDEZVOUS")) {
    const auto place = parse_host_port(*rendezvous);
    if (!place) {
      return Status(
          Code::InvalidArgument,
          fmt::format("WEFT_RENDEZVOUS={}: give host:port, like node1:29500 or [fd00::1]:29500", *rendezvous));
    }
    launch.host = place->host;
    launch.port = place->port;
    return true;
  }
  const auto host = environment.get("MASTER_ADDR");
  if (!host || !environment.has("MASTER_PORT")) return false;
  const auto port = parse_port(*environment.get("MASTER_PORT"));
  if (!port) {
    return Status(Code::InvalidArgument, fmt::format("MASTER_PORT={} is not a port", *environment.get("MASTER_PORT")));
  }
  launch.host = *host;
  launch.port = *port;
  launch.port_tries = kPortTries;
  return true;
}

Found find_weft(const Context& context) {
  const Environment& environment = context.environment;
  if (!environment.has("WEFT_RANK") && !environment.has("WEFT_SIZE")) return {};
  if (const auto missing = missing_of(environment, {"WEFT_RANK", "WEFT_SIZE"}); !missing.empty())
    return incomplete("WEFT_*", missing);
  auto launch = rank_and_size(environment, "WEFT", "WEFT_RANK", "WEFT_SIZE");
  if (!launch.has_value() || launch->size == 1) return launch;
  if (!environment.has("WEFT_RENDEZVOUS")) return incomplete("WEFT_*", {"WEFT_RENDEZVOUS"});
  if (auto placed = address_by_hand(environment, *launch); !placed.has_value()) return std::move(placed).error();
  launch->job = "WEFT";
  return launch;
}

Found find_torchrun(const Context& context) {
  const Environment& environment = context.environment;
  if (!environment.has("RANK") && !environment.has("WORLD_SIZE")) return {};
  if (const auto missing = missing_of(environment, {"RANK", "WORLD_SIZE"}); !missing.empty()) {
    auto all = missing_of(environment, {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"});
    return incomplete("torchrun", all);
  }
  auto launch = rank_and_size(environment, "torchrun", "RANK", "WORLD_SIZE");
  if (!launch.has_value() || launch->size == 1) return launch;
  auto placed = address_by_hand(environment, *launch);
  if (!placed.has_value()) return std::move(placed).error();
  if (!*placed) return incomplete("torchrun", missing_of(environment, {"MASTER_ADDR", "MASTER_PORT"}));
  launch->job = fmt::format("torchrun:{}:{}:{}", environment.get("TORCHELASTIC_RUN_ID").value_or("none"), launch->port,
                            environment.get("TORCHELASTIC_RESTART_COUNT").value_or("0"));
  // The agent's own store is at MASTER_PORT and would take our hello for noise.
  if (environment.get("TORCHELASTIC_USE_AGENT_STORE") == "True" && !environment.has("WEFT_RENDEZVOUS") &&
      launch->port < 65535) {
    ++launch->port;
    --launch->port_tries;
  }
  return launch;
}

// For launchers that give rank and size, but no address.
Result<Launch> meet(const Context& context, Launch launch, const Exchange& exchange, std::string_view job) {
  if (launch.size == 1) return launch;
  launch.job = job;
  WEFT_TRY_ASSIGN(const bool placed, address_by_hand(context.environment, launch));
  if (placed) return launch;
  ExchangeCall call{.environment = context.environment,
                    .rank = launch.rank,
                    .size = launch.size,
                    .offer = {},
                    .deadline = Deadline::after_ms(context.settings.timeout_ms)};
  if (launch.rank == 0) {
    WEFT_TRY_ASSIGN(call.offer, context.helpers.offer(context.settings.interface));
  }
  auto text = exchange(call);
  if (!text.has_value()) {
    return std::move(text).error().with_context(
        fmt::format("{} gives rank and size but no address, and asking it for rank 0's failed "
                    "(WEFT_RENDEZVOUS=host:port needs no asking)",
                    launch.source));
  }
  WEFT_TRY_ASSIGN(const Offer offer, parse_offer(*text));
  launch.host = offer.hosts;
  launch.port = offer.port;
  launch.port_tries = kPortTries;
  launch.job += ":" + offer.job;
  return launch;
}

Found find_openmpi(const Context& context) {
  constexpr std::string_view kRank = "OMPI_COMM_WORLD_RANK";
  constexpr std::string_view kSize = "OMPI_COMM_WORLD_SIZE";
  const Environment& environment = context.environment;
  if (!environment.has(kRank) && !environment.has(kSize)) return {};
  if (const auto missing = missing_of(environment, {kRank, kSize}); !missing.empty())
    return incomplete("Open MPI", missing);
  auto launch = rank_and_size(environment, "openmpi", kRank, kSize);
  if (!launch.has_value()) return launch;
  return meet(context, *launch, context.helpers.pmix,
              fmt::format("openmpi:{}", environment.get("PMIX_NAMESPACE").value_or("")));
}

Found find_mpich(const Context& context) {
  const Environment& environment = context.environment;
  if (!environment.has("PMI_RANK") && !environment.has("PMI_SIZE")) return {};
  if (const auto missing = missing_of(environment, {"PMI_RANK", "PMI_SIZE"}); !missing.empty())
    return incomplete("MPICH", missing);
  auto launch = rank_and_size(environment, "mpich", "PMI_RANK", "PMI_SIZE");
  if (!launch.has_value()) return launch;
  return meet(context, *launch, context.helpers.pmi, "mpich");
}

// Spreads jobs that share a node over ports that neither services nor the system's own choice use (it chooses from
// 32768 on).
int slurm_port(std::string_view job) { return 20000 + static_cast<int>(base::fnv1a_32(job) % 10000); }

Found find_slurm(const Context& context) {
  const Environment& environment = context.environment;
  if (!environment.has("SLURM_PROCID")) return {};
  if (!environment.has("SLURM_STEP_ID")) {
    if (environment.get("SLURM_PROCID") == "0") return {};  // a batch script is no rank
    return incomplete("Slurm", {"SLURM_STEP_ID"});
  }
  const std::string_view size_name = environment.has("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS";
  if (!environment.has(size_name)) return incomplete("Slurm", {size_name});
  auto launch = rank_and_size(environment, "slurm", "SLURM_PROCID", size_name);
  if (!launch.has_value() || launch->size == 1) return launch;
  const auto job = environment.has("SLURM_JOB_ID") ? environment.get("SLURM_JOB_ID") : environment.get("SLURM_JOBID");
  if (!job) return incomplete("Slurm", {"SLURM_JOB_ID"});
  const std::string step = fmt::format("{}.{}", *job, *environment.get("SLURM_STEP_ID"));
  launch->job = fmt::format("slurm:{}:{}", step, environment.get("SLURM_RESTART_COUNT").value_or("0"));
  auto placed = address_by_hand(environment, *launch);
  if (!placed.has_value()) return std::move(placed).error();
  if (*placed) return launch;

  const std::string_view list_name =
      environment.has("SLURM_STEP_NODELIST") ? "SLURM_STEP_NODELIST" : "SLURM_JOB_NODELIST";
  if (!environment.has(list_name)) return incomplete("Slurm", {list_name});
  launch->host = first_host_of(*environment.get(list_name));
  if (launch->host.empty()) {
    return Status(Code::InvalidArgument,
                  fmt::format("{}={} is no list of hosts", list_name, *environment.get(list_name)));
  }
  launch->port = slurm_port(step);
  launch->port_tries = kPortTries;
  return launch;
}

Exchange once_per_process(Result<std::string> (*exchange)(const ExchangeCall&), std::optional<std::string>& answer) {
  return [exchange, &answer](const ExchangeCall& call) -> Result<std::string> {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    if (answer) return *answer;
    WEFT_TRY_ASSIGN(answer, exchange(call));
    return *answer;
  };
}

}  // namespace

Result<Launch> find_launch(const Environment& environment, const LaunchSettings& settings,
                           const LaunchHelpers& helpers) {
  const Context context{.environment = environment, .settings = settings, .helpers = helpers};
  Launch launch{.source = "single", .host = {}, .job = {}};
  for (const auto find : {find_weft, find_torchrun, find_openmpi, find_mpich, find_slurm}) {
    Found found = find(context);
    if (!found) continue;
    if (!found->has_value()) return *std::move(found);
    launch = **std::move(found);
    break;
  }
  if (launch.source == "single" && environment.has("WEFT_RENDEZVOUS"))
    return incomplete("WEFT_*", {"WEFT_RANK", "WEFT_SIZE"});
  if (const auto job = environment.get("WEFT_JOB")) launch.job = *job;
  return launch;
}

// A launcher's exchange is a collective call over its processes, which may be made once only: MPICH's cannot be told
// apart from the application's own MPI otherwise, and ranks may ask for their options a different number of times.
LaunchHelpers launch_helpers() {
  static std::optional<std::string> pmix_answer;
  static std::optional<std::string> pmi_answer;
  return LaunchHelpers{.pmix = once_per_process(exchange_by_pmix, pmix_answer),
                       .pmi = once_per_process(exchange_by_pmi, pmi_answer),
                       .offer = [](const std::string& interface) -> Result<std::string> {
                         WEFT_TRY_ASSIGN(const Offer offer, make_offer(interface));
                         return to_text(offer);
                       }};
}

std::string first_host_of(std::string_view slurm_list) {
  std::string host;
  while (!slurm_list.empty() && slurm_list.front() != ',') {
    if (slurm_list.front() != '[') {
      host.push_back(slurm_list.front());
      slurm_list.remove_prefix(1);
      continue;
    }
    const std::size_t close = slurm_list.find(']');
    if (close == std::string_view::npos) return {};
    const std::string_view first = slurm_list.substr(1, slurm_list.find_first_of("-,]", 1) - 1);
    if (first.empty()) return {};
    host += first;
    slurm_list.remove_prefix(close + 1);
  }
  return host;
}

}  // namespace weft::base
