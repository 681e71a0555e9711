// Checks the options, and gathers the parts that they ask for.
#include "comm/create.hpp"

#include <fmt/format.h>

#include "base/limits.hpp"
#include "base/socket.hpp"
#include "comm/publish.hpp"
#include "transports/transports.hpp"

namespace weft::comm {
namespace {

Status check(const Options& options) {
  if (options.size < 1) {
    return Status(
        Code::InvalidArgument,
        fmt::format("Options::size is {}; set rank and size, or use Options::from_environment()", options.size));
  }
  if (options.size > base::kMaxRanks) {
    return Status(Code::InvalidArgument, fmt::format("Options::size is {}; at most {} ranks can work together",
                                                     options.size, base::kMaxRanks));
  }
  if (options.rank < 0 || options.rank >= options.size) {
    return Status(Code::InvalidArgument,
                  fmt::format("Options::rank {} is not one of {} ranks", options.rank, options.size));
  }
  if (options.channels < 0 || options.channels > base::kMaxChannels) {
    return Status(Code::InvalidArgument,
                  fmt::format("Options::channels is {}; give 0 (chosen) to {}", options.channels, base::kMaxChannels));
  }
  if (options.timeout_ms < 1)
    return Status(Code::InvalidArgument,
                  fmt::format("Options::timeout_ms is {}; it must be at least 1", options.timeout_ms));
  if (options.size > 1 && options.rendezvous_host.empty()) {
    return Status(Code::InvalidArgument,
                  "Options::rendezvous_host is empty; set it to where rank 0 listens (WEFT_RENDEZVOUS=host:port)");
  }
  WEFT_TRY(base::check_interfaces(options.interface));
  return transports::check_transports(options);
}

}  // namespace

Result<std::unique_ptr<CommunicatorState>> create(const Options& options) {
  WEFT_TRY(check(options));
  RuntimeParts parts;
  parts.options = options;
  if (options.size == 1) {
    // One rank needs nobody: no socket, no thread.
    parts.hub = transports::LocalStoreHub::create(1);
    parts.store = parts.hub->store(0);
  } else {
    auto transports = transports::make_transports(options);
    // A rank without transports meets the others all the same: else they would wait for it until their deadline.
    auto store = transports::connect_store(options);
    if (!store) {  // rank 0 may lack the same, and have ended
      return transports ? std::move(store).error() : blamed_on(options.rank, transports.error());
    }
    parts.store = std::move(*store);
    parts.failure = transports.status();
    if (transports) parts.transports = std::move(transports).value();
  }
  WEFT_TRY_ASSIGN(auto runtime, Runtime::create(std::move(parts)));
  return CommunicatorState::root(std::move(runtime));
}

}  // namespace weft::comm
