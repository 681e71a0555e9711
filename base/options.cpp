// Settings from the configuration; rank, size and meeting point from the launcher.
#include "base/options.hpp"

#include "base/config.hpp"
#include "base/log.hpp"

namespace weft {
namespace base {

Result<FoundOptions> find_options(const Environment& environment, const LaunchHelpers& helpers) {
  FoundOptions found;
  Options& options = found.options;
  WEFT_TRY(apply_configuration(environment, options));
  WEFT_TRY_ASSIGN(
      Launch launch,
      find_launch(environment, {.interface = options.interface, .timeout_ms = options.timeout_ms}, helpers));
  options.rank = launch.rank;
  options.size = launch.size;
  options.rendezvous_host = std::move(launch.host);
  options.rendezvous_port = launch.port;
  options.port_tries = launch.port_tries;
  options.job_id = std::move(launch.job);
  options.source = std::move(launch.source);
  found.warnings = unknown_variables(environment);
  return found;
}

}  // namespace base

Result<Options> Options::from_environment() {
  WEFT_TRY_ASSIGN(base::FoundOptions found,
                  base::find_options(base::Environment::of_process(), base::launch_helpers()));
  // The ranks of a job share their environment as a rule; one voice is enough.
  if (found.options.rank == 0) {
    const base::Logger logger = base::logger_of(found.options);
    for (const std::string& warning : found.warnings) logger.warning("{}", warning);
  }
  return std::move(found.options);
}

}  // namespace weft
