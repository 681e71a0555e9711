// Connections on first use, over the transport that was agreed for the pair.
#include "comm/runtime.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.hpp"
#include "base/plural.hpp"

namespace weft::comm {

Result<std::unique_ptr<Runtime>> Runtime::create(RuntimeParts parts) {
  auto progress = Progress::start(parts.options.progress_thread);
  WEFT_TRY_ASSIGN(Agreement agreement,
                  agree(*parts.store, {.options = parts.options,
                                       .transports = parts.transports,
                                       .graph = parts.graph,
                                       .failure = parts.failure.ok() ? progress.status() : parts.failure}));
  std::optional<algorithms::MeasuredTable> table;
  if (!agreement.table.empty()) {
    WEFT_TRY_ASSIGN(table, algorithms::MeasuredTable::from_json(agreement.table));
  }
  WEFT_TRY_ASSIGN(auto schedules, algorithms::LoadedSchedules::load(agreement.schedules));
  return std::unique_ptr<Runtime>(new Runtime(std::move(parts), std::move(agreement), std::move(table),
                                              std::move(schedules), std::move(*progress)));
}

Runtime::Runtime(RuntimeParts parts, Agreement agreement, std::optional<algorithms::MeasuredTable> table,
                 algorithms::LoadedSchedules schedules, std::unique_ptr<Progress> progress)
    : parts_(std::move(parts)),
      log_(base::logger_of(parts_.options)),
      agreement_(std::move(agreement)),
      table_(std::move(table)),
      schedules_(std::move(schedules)),
      placement_(place_on_cores(agreement_)),
      connections_(static_cast<std::size_t>(parts_.store->size())),
      control_(std::make_unique<Control>(*parts_.store, [this](const CommunicatorKey& key) { retire(key); })),
      progress_(std::move(progress)) {
  log_.info("one of {} on {} of {}; they agreed on {}", base::plural(size(), "rank"),
            agreement_.hosts[static_cast<std::size_t>(agreement_.ranks[static_cast<std::size_t>(rank())].host)],
            base::plural(agreement_.hosts.size(), "host"), fmt::join(agreement_.transports, ", then "));
}

bool Runtime::oversubscribed() const {
  const int host = agreement_.ranks[static_cast<std::size_t>(rank())].host;
  return agreement_.oversubscribed[static_cast<std::size_t>(host)];
}

std::string_view Runtime::transport_name(int root_rank) const {
  if (root_rank == rank()) return "self";
  const std::string name = agreement_.transport(rank(), root_rank);
  for (const std::string& known : agreement_.transports) {
    if (known == name) return known;
  }
  return "none";
}

transports::Transport* Runtime::transport(int root_rank) {
  const std::string_view name = transport_name(root_rank);
  for (const auto& transport : parts_.transports) {
    if (transport->name() == name) return transport.get();
  }
  return nullptr;
}

void Runtime::retire(const CommunicatorKey& key) {
  for (const auto& transport : parts_.transports)
    transport->retire(std::uint64_t{key.id} << kChannelBits, kChannelBits);
}

Result<transports::Connection*> Runtime::connection(int root_rank) {
  auto& connection = connections_[static_cast<std::size_t>(root_rank)];
  if (connection != nullptr) return connection.get();
  transports::Transport* const transport = this->transport(root_rank);
  if (transport == nullptr) {
    // Without names, one that cannot start is left out without a word.
    const std::string_view remedy = parts_.options.transports.empty()
                                        ? "Set WEFT_TRANSPORTS=shm,ucx: one that is named and cannot start says why"
                                        : "Set WEFT_TRANSPORTS to allow others";
    return Status(Code::Unsupported,
                  fmt::format("no transport reaches rank {} from rank {}; rank 0 of the job has {}. {}", root_rank,
                              rank(), fmt::join(agreement_.transports, ", "), remedy));
  }
  const std::string& address =
      agreement_.ranks[static_cast<std::size_t>(root_rank)].addresses.at(std::string(transport->name()));
  log_.debug("reaches rank {} over {}", root_rank, transport->name());
  WEFT_TRY_ASSIGN(connection, transport->connect(rank(), root_rank, address, parts_.options.timeout_ms));
  if (!transport->passive()) {
    const auto place = std::find_if(polled_.begin(), polled_.end(), [&](const auto& entry) {
      return entry.load(std::memory_order_relaxed) == nullptr || entry.load(std::memory_order_relaxed) == transport;
    });
    WEFT_ASSERT(place != polled_.end());
    place->store(transport, std::memory_order_release);  // pairs with poll()
  }
  return connection.get();
}

}  // namespace weft::comm
