// Ranks, what there is to measure, memory, and the file of --json. That of --table is of one topology, and is checked
// where this is known (table_file.hpp).
#include "bench/weft-bench/preconditions.hpp"

#include <fmt/format.h>

#include "base/output.hpp"
#include "bench/weft-bench/cases.hpp"
#include "bench/weft-bench/machine.hpp"
#include "bench/weft-bench/soak.hpp"

namespace weft::bench {
namespace {

Status wrong(std::string text) { return Status(Code::InvalidArgument, std::move(text)); }

Status check_ranks(const Arguments& arguments, int ranks) {
  if (arguments.root >= ranks)
    return wrong(fmt::format("--root {} is not a rank: there are {}", arguments.root, ranks));
  if (arguments.schedule_ranks > 0 && arguments.schedule_ranks != ranks)
    return wrong(fmt::format("--schedule {} is for {} ranks: there are {}", arguments.schedule,
                             arguments.schedule_ranks, ranks));
  if (arguments.task == Task::Messages && ranks < 2)
    return wrong("send_recv needs two ranks: give -n 2, or start them by a launcher");
  return {};
}

Status check_calls(const Arguments& arguments, int ranks) {
  if (arguments.task == Task::Messages) return {};
  return arguments.task == Task::Soak ? check_soak(arguments) : check_cases(arguments, ranks);
}

std::uint64_t bytes_of_a_rank(const Arguments& arguments, int ranks) {
  if (arguments.task == Task::Messages) return 2 * arguments.max_bytes;
  return arguments.task == Task::Soak ? soak_memory_of_a_rank(arguments) : memory_of_a_rank(arguments, ranks);
}

Status check_memory(std::uint64_t needed, int ranks) {
  constexpr double kGiB = 1 << 30;
  const std::uint64_t available = this_machine().available_bytes;
  if (available == 0 || needed <= available) return {};
  return wrong(fmt::format("{} ranks need {:.1f} GiB for buffers and {:.1f} GiB are free; choose a smaller --max-bytes",
                           ranks, static_cast<double>(needed) / kGiB, static_cast<double>(available) / kGiB));
}

}  // namespace

Status check_before(const Arguments& arguments, int ranks, int local_ranks) {
  if (arguments.task == Task::Calibrate) return {};
  WEFT_TRY(check_ranks(arguments, ranks));
  WEFT_TRY(check_calls(arguments, ranks));
  WEFT_TRY(check_memory(bytes_of_a_rank(arguments, ranks) * static_cast<std::uint64_t>(local_ranks), local_ranks));
  if (arguments.json.empty()) return {};
  if (const Status status = base::check_writable(arguments.json); !status.ok())
    return wrong(fmt::format("--json: {}", status.message()));
  return {};
}

}  // namespace weft::bench
